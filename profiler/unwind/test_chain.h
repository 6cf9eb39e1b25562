// test_chain.h - stacks made of all kinds of frames, for tests.
//
//   const uint8_t steps[] = {0, 5, 3};
//   Chain chain{.steps = steps, .left = 3, .leaf = ..., .argument = ...};
//   chain.Next();       // makes the steps' frames, then calls leaf(argument)
//
// There are several variants of each step: the same source, compiled with and
// without frame pointers, with and without optimisation.
#ifndef KYMO_PROFILER_UNWIND_TEST_CHAIN_H_
#define KYMO_PROFILER_UNWIND_TEST_CHAIN_H_

#include <cstddef>
#include <cstdint>

namespace kymo::unwind {

struct Chain {
  const uint8_t* steps = nullptr;  // modulo the number of steps
  size_t left = 0;
  void (*leaf)(void*) = nullptr;
  void* argument = nullptr;

  void Next();
};

using ChainStep = void (*)(Chain&);

struct ChainSteps {
  const ChainStep* steps;
  size_t count;
};

extern "C" {
ChainSteps with_pointer_steps();
ChainSteps without_pointer_steps();
ChainSteps unoptimised_steps();
}

size_t StepCount();

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_TEST_CHAIN_H_
