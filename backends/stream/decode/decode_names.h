// decode_names.h - maps the ids of the arena's names to those of the shard's.
//
//   NameMap names(limit, name_text, shard.strings);
//   ParallelFor(...)  names.Mark(head.name);     // what is going to be asked
//   names.MapMarked();
//   const NameMap::View view = names.view();
//   ParallelFor(...)  column[i] = view[head.name];
//
// Each distinct name is looked up once. Marked names get their ids in the order
// of the arena's ids, so the result does not depend on the order of marking.
// Threads: Mark may be called concurrently, and so may views be read.
#ifndef KYMO_BACKENDS_STREAM_DECODE_DECODE_NAMES_H_
#define KYMO_BACKENDS_STREAM_DECODE_DECODE_NAMES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/model/string_table.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

class NameMap {
 public:
  // `limit`: an id that is not smaller is none, and shown as kNameLost.
  NameMap(uint32_t limit, std::function<std::string_view(uint32_t)> name_text,
          model::StringTable& strings)
      : name_text_(std::move(name_text)),
        strings_(strings),
        ids_(limit > record::kNameLost ? limit : record::kNameLost + 1,
             kUnseen) {}

  void Mark(uint32_t arena_id) noexcept {
    if (arena_id == record::kNameInPayload) return;
    // Most names are marked already, and a store would take the cache line.
    std::atomic_ref<uint32_t> id(ids_[Known(arena_id)]);
    if (id.load(std::memory_order_relaxed) == kUnseen) {
      id.store(kMarked, std::memory_order_relaxed);
    }
  }

  void MapMarked() {
    for (uint32_t id = 0; id < ids_.size(); ++id) {
      if (ids_[id] == kMarked) Intern(id);
    }
  }

  // Reads the names that are marked and mapped, until others are marked.
  class View {
   public:
    model::NameId operator[](uint32_t arena_id) const noexcept {
      if (arena_id == record::kNameInPayload) return model::kEmptyName;
      return model::NameId{
          ids_[arena_id < ids_.size() ? arena_id : record::kNameLost]};
    }

   private:
    friend NameMap;
    explicit View(std::span<const uint32_t> ids) : ids_(ids) {}
    std::span<const uint32_t> ids_;
  };
  View view() const noexcept { return View(ids_); }

  // For any id. Not concurrently with other calls.
  model::NameId Map(uint32_t arena_id) {
    if (arena_id == record::kNameInPayload) return model::kEmptyName;
    const uint32_t known = Known(arena_id);
    if (ids_[known] >= kMarked) Intern(known);
    return model::NameId{ids_[known]};
  }

 private:
  static constexpr uint32_t kMarked = ~uint32_t{0} - 1;
  static constexpr uint32_t kUnseen = ~uint32_t{0};

  uint32_t Known(uint32_t arena_id) const noexcept {
    return arena_id < ids_.size() ? arena_id : record::kNameLost;
  }
  void Intern(uint32_t arena_id) {
    ids_[arena_id] = Index(strings_.Intern(name_text_(arena_id)));
  }

  const std::function<std::string_view(uint32_t)> name_text_;
  model::StringTable& strings_;
  std::vector<uint32_t> ids_;  // by the arena's id; kUnseen, kMarked or an id
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_DECODE_NAMES_H_
