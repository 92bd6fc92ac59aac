"""Makes digits.bin of scikit-learn's digits: 17 bytes for each of 1,797 images of 8 by 8 pixels.

The first byte is the digit. The others have two bits for each pixel, row by row, with the first pixel
lowest: its grey level, a fourth of its 0 to 16, and 3 at most.

Run: pip download --no-deps scikit-learn && python digits.py scikit_learn*.whl digits.bin
"""
import gzip
import sys
import zipfile

text = zipfile.ZipFile(sys.argv[1]).read("sklearn/datasets/data/digits.csv.gz")
with open(sys.argv[2], "wb") as out:
    for line in gzip.decompress(text).decode().split():
        *pixels, digit = map(int, line.split(","))
        rows = [sum(min(p // 4, 3) << 2 * i for i, p in enumerate(pixels[r:r + 4])) for r in range(0, 64, 4)]
        out.write(bytes([digit, *rows]))
