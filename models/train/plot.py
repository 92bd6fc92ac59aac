"""Draws the loss of log.jsonl over the tokens trained on, as a small SVG."""

import argparse
import json

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 46, 14, 26, 40


def points(path: str) -> list[tuple[float, float]]:
    """(tokens in millions, loss) by step; where a step was trained twice, the later line counts."""
    lines = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            j = json.loads(line)
            lines[j["step"]] = (j["tokens"] / 1e6, j["loss"])
    return [lines[s] for s in sorted(lines)]


def svg(data: list[tuple[float, float]], title: str) -> str:
    """The drawing, with labelled axes, a grid, and colours for light and dark pages."""
    high = max(x for x, _ in data)
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if high / s <= 10)
    bottom, top = int(2 * min(y for _, y in data)) / 2, int(2 * max(y for _, y in data) + 1) / 2

    def px(x: float) -> float:
        return LEFT + x / high * (WIDTH - LEFT - RIGHT)

    def py(y: float) -> float:
        return TOP + (top - y) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="11" fill="#777"><title>{title}</title>',
        f'<text x="{LEFT}" y="15" font-size="13">{title}</text>',
    ]
    y = bottom
    while y <= top:
        out.append(f'<path d="M{LEFT} {py(y):.1f}H{WIDTH - RIGHT}" stroke="#999" stroke-opacity=".3"/>')
        out.append(f'<text x="{LEFT - 6}" y="{py(y) + 4:.1f}" text-anchor="end">{y:.1f}</text>')
        y += 0.5
    for k in range(int(high / step) + 1):
        out.append(f'<text x="{px(k * step):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{k * step}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">million tokens</text>')
    line = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in data)
    out.append(f'<polyline points="{line}" fill="none" stroke="#3b82c4" stroke-width="1.6"/></svg>')
    return "\n".join(out) + "\n"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--log", required=True, help="log.jsonl that train.py wrote")
    p.add_argument("--out", required=True, help="the SVG to write")
    p.add_argument("--title", default="Training loss (nats a masked piece, mean of 100 steps)")
    a = p.parse_args()
    with open(a.out, "w", encoding="utf-8") as f:
        f.write(svg(points(a.log), a.title))


if __name__ == "__main__":
    main()
