// Package binary16 has the numbers of IEEE 754 half precision, in which models and Parquet
// files are stored.
package binary16

import "math"

// Round rounds to the nearest half-precision number, to even in the middle; what is too large
// becomes infinite.
func Round(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	switch abs := bits & 0x7fffffff; {
	case abs >= 0x47800000: // 65536 and more, infinities, NaN
		if abs > 0x7f800000 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case abs < 0x38800000: // below 2⁻¹⁴: multiples of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*(1<<24)))
	default:
		abs += 0xfff + abs>>13&1
		return sign | uint16(abs>>13-(127-15)<<10)
	}
}

// Widen is the value of a half-precision number, exactly.
func Widen(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch exponent {
	case 0: // multiples of 2⁻²⁴
		return math.Float32frombits(math.Float32bits(float32(fraction)/(1<<24)) | sign)
	case 31:
		exponent = 255
	default:
		exponent += 127 - 15
	}
	return math.Float32frombits(sign | exponent<<23 | fraction<<13)
}
