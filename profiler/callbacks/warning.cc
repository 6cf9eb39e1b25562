#include "kymo/warning.h"

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

// Called without the lock: a handler may warn, and replace itself.
std::shared_ptr<const WarningHandler> CurrentHandler() {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  return state.handler;
}

}  // namespace

WarningHandler SetWarningHandler(WarningHandler handler) {
  auto changed = std::make_shared<const WarningHandler>(std::move(handler));
  State& state = GetState();
  {
    const std::lock_guard lock(state.mutex);
    changed.swap(state.handler);
  }
  return *changed;
}

void Warn(std::string_view text) noexcept {
  try {
    const auto handler = CurrentHandler();
    if (*handler) {
      (*handler)(text);
    } else {
      std::fprintf(stderr, "kymo: %.*s\n", static_cast<int>(text.size()),
                   text.data());
    }
  } catch (...) {
    // The code that warns is in the middle of the program's own work. An error
    // of the handler must not end that work.
  }
}

}  // namespace kymo
