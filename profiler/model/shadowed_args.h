// shadowed_args.h - finds the arguments of an event that a later one replaces.
//
//   for (size_t i = 0; i < args.size(); ++i) {
//     if (!IsShadowed(args, i)) Append(args[i]);
//   }
//
// A program may give two arguments of an event the same key. A format that
// takes each key once gets the last value.
//
// Cost: linear in the arguments behind `i`.
#ifndef KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_
#define KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_

#include <cstddef>
#include <span>

#include "profiler/model/records.h"

namespace kymo::model {

// True if a later one of `args` has the key of `args[i]`.
inline bool IsShadowed(std::span<const Arg> args, size_t i) {
  for (size_t later = i + 1; later < args.size(); ++later) {
    if (args[later].key == args[i].key) return true;
  }
  return false;
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_
