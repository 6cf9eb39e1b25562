#include "kymo/warning.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace kymo {
namespace {

struct State {
  std::mutex mutex;
  std::shared_ptr<const WarningHandler> handler;  // null: none was set
};

// Never destroyed: threads may warn while the program ends.
union StateStorage {
  constexpr StateStorage() noexcept : state() {}
  ~StateStorage() {}
  State state;
};
constinit StateStorage storage;

// Called without the lock: a handler may warn, and replace itself.
std::shared_ptr<const WarningHandler> CurrentHandler() {
  const std::lock_guard lock(storage.state.mutex);
  return storage.state.handler;
}

}  // namespace

WarningHandler SetWarningHandler(WarningHandler handler) {
  auto changed = std::make_shared<const WarningHandler>(std::move(handler));
  {
    const std::lock_guard lock(storage.state.mutex);
    changed.swap(storage.state.handler);
  }
  return changed == nullptr ? WarningHandler() : *changed;
}

void Warn(std::string_view text) noexcept {
  try {
    const auto handler = CurrentHandler();
    if (handler != nullptr && *handler) {
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
