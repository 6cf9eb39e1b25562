// string_table.h - names interned to dense ids.
//
//   StringTable strings;
//   NameId id = strings.Intern("aten::add");
//   strings.Get(id) == "aten::add"
//
// Ids are dense and start at 0; each new text gets the next one. Id 0 is always
// the empty string. Text is kept byte for byte, whatever it is.
// Threads: Intern needs exclusive access; Get and Find may run concurrently.
// Lifetime: views from Get live as long as the table, and survive moving it.
#ifndef KYMO_PROFILER_MODEL_STRING_TABLE_H_
#define KYMO_PROFILER_MODEL_STRING_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace kymo::model {

enum class NameId : uint32_t {};
inline constexpr NameId kEmptyName{0};

constexpr uint32_t Index(NameId id) noexcept {
  return static_cast<uint32_t>(id);
}

class StringTable {
 public:
  StringTable();
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  NameId Intern(std::string_view text);
  std::optional<NameId> Find(std::string_view text) const;

  // REQUIRES: `id` came from this table.
  std::string_view Get(NameId id) const { return texts_[Index(id)]; }

  size_t size() const noexcept { return texts_.size(); }
  // Bytes of text and index held.
  size_t memory_bytes() const noexcept;

 private:
  size_t Probe(std::string_view text, uint64_t hash) const;
  void Grow();
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_;  // open addressing; id + 1, 0 = free
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_next_ = nullptr;
  size_t block_left_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_STRING_TABLE_H_
