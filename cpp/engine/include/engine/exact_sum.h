// Sums of doubles that do not depend on their order.
//
// Floating-point addition is not associative, so a parallel sum would change with the number of
// threads and the size of blocks. This one adds into a fixed-point number that spans all doubles
// and rounds once, at the end (to nearest, ties to even): the result is the correctly rounded sum,
// the same as Python's math.fsum.
//
// Thread-safety: externally synchronised; each thread has its own and they are merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

class ExactSum {
  public:
    void add(double value);
    void merge(const ExactSum& other);
    double round() const;

  private:
    // Bit 0 of limb 0 is worth 2^-1074, the least subnormal. A limb takes 32 bits of each addend,
    // so 2^31 of them fit before carries have to be moved on.
    static constexpr size_t kLimbs = 69;
    static constexpr uint32_t kMaxPending = 1u << 30;
    void carry();

    std::array<int64_t, kLimbs> limbs_{};
    uint32_t pending_ = 0;
    bool nan_ = false;
    bool plus_infinity_ = false;
    bool minus_infinity_ = false;
    // A sum of nothing but -0.0 is -0.0, as in IEEE addition.
    bool only_minus_zero_ = true;
    bool any_ = false;
};

}  // namespace engine
