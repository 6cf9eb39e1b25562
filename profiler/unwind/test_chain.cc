#include "profiler/unwind/test_chain.h"

namespace kymo::unwind {
namespace {

constexpr ChainSteps (*kVariants[])() = {
    with_pointer_steps,
    without_pointer_steps,
    unoptimised_steps,
};
constexpr size_t kVariantCount = sizeof(kVariants) / sizeof(kVariants[0]);

}  // namespace

size_t StepCount() { return kVariantCount * with_pointer_steps().count; }

void Chain::Next() {
  if (left == 0) {
    leaf(argument);
    // Keeps the call from becoming a jump, so that this frame stays.
    asm volatile("" : : : "memory");
    return;
  }
  --left;
  const size_t step = *steps++ % StepCount();
  const ChainSteps variant = kVariants[step % kVariantCount]();
  variant.steps[step / kVariantCount](*this);
  asm volatile("" : : : "memory");
}

}  // namespace kymo::unwind
