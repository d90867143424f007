#include "engine/exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace engine {

namespace {
constexpr uint64_t kLow32 = 0xffffffffu;
}

void ExactSum::add(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const auto exponent = uint32_t(bits >> 52 & 0x7ff);
    const bool negative = bits >> 63;
    uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
    any_ = true;
    if (bits != uint64_t(1) << 63) only_minus_zero_ = false;
    if (exponent == 0x7ff) {
        if (mantissa)
            nan_ = true;
        else
            (negative ? minus_infinity_ : plus_infinity_) = true;
        return;
    }
    if (exponent) mantissa |= uint64_t(1) << 52;
    const uint32_t position = exponent ? exponent - 1 : 0;
    const size_t limb = position >> 5;
    const unsigned __int128 shifted = static_cast<unsigned __int128>(mantissa) << (position & 31);
    const int64_t sign = negative ? -1 : 1;
    limbs_[limb] += sign * int64_t(uint64_t(shifted) & kLow32);
    limbs_[limb + 1] += sign * int64_t(uint64_t(shifted >> 32) & kLow32);
    limbs_[limb + 2] += sign * int64_t(uint64_t(shifted >> 64));
    if (++pending_ == kMaxPending) carry();
}

void ExactSum::carry() {
    for (size_t i = 0; i + 1 < kLimbs; ++i) {
        // An arithmetic shift: the remainder is in [0, 2^32), also of a negative limb.
        const int64_t over = limbs_[i] >> 32;
        limbs_[i] -= over * (int64_t(1) << 32);
        limbs_[i + 1] += over;
    }
    pending_ = 0;
}

void ExactSum::merge(const ExactSum& other) {
    if (!other.any_) return;
    ExactSum copy = other;
    copy.carry();
    carry();
    for (size_t i = 0; i < kLimbs; ++i) limbs_[i] += copy.limbs_[i];
    pending_ = 1;
    nan_ |= other.nan_;
    plus_infinity_ |= other.plus_infinity_;
    minus_infinity_ |= other.minus_infinity_;
    only_minus_zero_ &= other.only_minus_zero_;
    any_ = true;
}

double ExactSum::round() const {
    if (nan_ || (plus_infinity_ && minus_infinity_))
        return std::numeric_limits<double>::quiet_NaN();
    if (plus_infinity_) return std::numeric_limits<double>::infinity();
    if (minus_infinity_) return -std::numeric_limits<double>::infinity();
    if (any_ && only_minus_zero_) return -0.0;

    ExactSum sum = *this;
    sum.carry();
    const bool negative = sum.limbs_[kLimbs - 1] < 0;
    if (negative) {
        for (auto& limb : sum.limbs_) limb = -limb;
        sum.carry();
    }
    size_t top = kLimbs;
    while (top > 0 && sum.limbs_[top - 1] == 0) --top;
    if (top == 0) return 0.0;
    const auto bit = [&](int64_t at) -> uint64_t {
        return at < 0 ? 0 : uint64_t(sum.limbs_[size_t(at >> 5)]) >> (at & 31) & 1;
    };
    const int64_t highest =
        int64_t(top - 1) * 32 + 63 - std::countl_zero(uint64_t(sum.limbs_[top - 1]));
    const int64_t lowest = highest > 52 ? highest - 52 : 0;
    uint64_t mantissa = 0;
    for (int64_t at = highest; at >= lowest; --at) mantissa = mantissa << 1 | bit(at);
    if (bit(lowest - 1)) {
        bool sticky = mantissa & 1;
        for (int64_t at = lowest - 2; at >= 0 && !sticky; --at) sticky = bit(at);
        mantissa += sticky;
    }
    const double magnitude = std::ldexp(double(mantissa), int(lowest - 1074));
    return negative ? -magnitude : magnitude;
}

}  // namespace engine
