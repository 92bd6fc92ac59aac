"""Makes digits.bin of scikit-learn's digits: 9 bytes for each of 1,797 images of 8 by 8 pixels.

The first byte is the digit. A bit of the others is set where a pixel has 8 or more of 16, row by
row, and the first pixel of a row is the lowest bit.

Run: pip download --no-deps scikit-learn && python digits.py scikit_learn*.whl digits.bin
"""
import gzip
import sys
import zipfile

text = zipfile.ZipFile(sys.argv[1]).read("sklearn/datasets/data/digits.csv.gz")
with open(sys.argv[2], "wb") as out:
    for line in gzip.decompress(text).decode().split():
        *pixels, digit = map(int, line.split(","))
        rows = [sum((p >= 8) << i for i, p in enumerate(pixels[r:r + 8])) for r in range(0, 64, 8)]
        out.write(bytes([digit, *rows]))
