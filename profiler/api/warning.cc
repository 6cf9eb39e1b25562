#include "profiler/api/warning.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace kymo {
namespace {

struct State {
  std::mutex mutex;
  std::shared_ptr<const WarningHandler> handler =
      std::make_shared<const WarningHandler>();
};

// Never destroyed: threads may warn while the program ends.
State& GetState() {
  static State* const state = new State;
  return *state;
}

}  // namespace

WarningHandler SetWarningHandler(WarningHandler handler) {
  auto next = std::make_shared<const WarningHandler>(std::move(handler));
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  return *std::exchange(state.handler, std::move(next));
}

void Warn(std::string_view text) {
  std::shared_ptr<const WarningHandler> handler;
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    handler = state.handler;
  }
  if (*handler) {
    (*handler)(text);
  } else {
    std::fprintf(stderr, "kymo: %.*s\n", static_cast<int>(text.size()),
                 text.data());
  }
}

}  // namespace kymo
