// shadowed_args.h - the arguments of an event without those that a later one
// replaces.
//
//   ForEachLastArg(args, [&](const Arg& arg) { Append(arg); });
//
// A program may give two arguments of an event the same key. A format that
// takes each key once gets the last value.
//
// Cost: linear in the arguments.
#ifndef KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_
#define KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>

#include "profiler/model/records.h"

namespace kymo::model {

// take(arg) of each argument whose key no later one has, in their order.
template <typename Take>
void ForEachLastArg(std::span<const Arg> args, const Take& take) {
  // To compare a few is faster than to make a table of them.
  constexpr size_t kFew = 32;
  std::unordered_map<NameId, size_t> last;
  if (args.size() > kFew) {
    for (size_t i = 0; i < args.size(); ++i) last[args[i].key] = i;
  }
  const auto is_last = [&](size_t i) {
    if (args.size() > kFew) return last[args[i].key] == i;
    return std::ranges::find(args.subspan(i + 1), args[i].key, &Arg::key) ==
           args.end();
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_last(i)) take(args[i]);
  }
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SHADOWED_ARGS_H_
