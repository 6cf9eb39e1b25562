#include "profiler/record/foreign_names.h"

#include <errno.h>
#include <sys/mman.h>

#include "profiler/record/host/host.h"
#include "profiler/record/host/own_host.h"

namespace kymo::record {

constinit std::atomic<ForeignTables*> foreign_tables = nullptr;

namespace {

// Address space; memory is taken as it is touched.
constexpr size_t kRegionBytes = size_t{64} << 20;

ForeignTables* Tables() noexcept {
  ForeignTables* tables = foreign_tables.load(std::memory_order_acquire);
  if (tables != nullptr) return tables;
  const Busy busy;
  const int saved_errno = errno;
  void* const mapped = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = saved_errno;
  if (mapped == MAP_FAILED) return nullptr;
  auto* const made = static_cast<ForeignTables*>(mapped);
  if (foreign_tables.compare_exchange_strong(tables, made,
                                             std::memory_order_acq_rel)) {
    return made;
  }
  munmap(mapped, kRegionBytes);
  return tables;
}

// FNV-1a.
uint32_t HashOf(std::string_view text) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

ForeignText* Find(ForeignText* list, std::string_view text,
                  uint32_t hash) noexcept {
  for (ForeignText* at = list; at != nullptr; at = at->next) {
    if (at->hash == hash && std::string_view(at->text, at->size) == text) {
      return at;
    }
  }
  return nullptr;
}

ForeignText* Make(std::string_view text, uint32_t hash) noexcept {
  auto* const made = static_cast<ForeignText*>(
      AllocateForeign(sizeof(ForeignText) + text.size() + 1));
  if (made == nullptr) return nullptr;
  made->size = static_cast<uint32_t>(text.size());
  made->hash = hash;
  memcpy(made->text, text.data(), text.size());
  made->mark = ForeignText::kMark;
  return made;
}

// Keeps room for registered texts, however many other texts there are.
bool HasRoomForPassing(ForeignTables* tables) noexcept {
  if (tables->used.load(std::memory_order_relaxed) > kRegionBytes / 2 ||
      tables->passing.load(std::memory_order_relaxed) >=
          kMaxPassingForeignTexts) {
    return false;
  }
  tables->passing.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

void* AllocateForeign(size_t bytes) noexcept {
  ForeignTables* const tables = Tables();
  if (tables == nullptr) return nullptr;
  const uint64_t rounded = (bytes + 15) / 16 * 16;
  constexpr uint64_t kFirst = (sizeof(ForeignTables) + 15) / 16 * 16;
  const uint64_t at =
      kFirst + tables->used.fetch_add(rounded, std::memory_order_relaxed);
  if (at + rounded > kRegionBytes) {
    tables->used.store(kRegionBytes, std::memory_order_relaxed);
    return nullptr;
  }
  return reinterpret_cast<char*>(tables) + at;
}

bool IsForeignAllocation(const void* address) noexcept {
  const ForeignTables* const tables =
      foreign_tables.load(std::memory_order_acquire);
  const uint64_t at =
      reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(tables);
  return tables != nullptr && at >= sizeof(ForeignTables) &&
         at < kRegionBytes - 64 && at % 16 == 0;
}

ForeignText* FindForeignText(const void* handle) noexcept {
  if (!IsForeignAllocation(handle)) return nullptr;
  auto* const text =
      const_cast<ForeignText*>(static_cast<const ForeignText*>(handle));
  return text->mark == ForeignText::kMark ? text : nullptr;
}

ForeignText* AddForeignText(std::string_view text, ForeignUse use) noexcept {
  ForeignTables* const tables = Tables();
  if (tables == nullptr || text.size() > kMaxForeignTextBytes) return nullptr;
  const uint32_t hash = HashOf(text);
  std::atomic<ForeignText*>& place =
      tables->by_text[hash % (sizeof(tables->by_text) / sizeof(place))];
  ForeignText* first = place.load(std::memory_order_acquire);
  if (ForeignText* const found = Find(first, text, hash)) return found;
  if (use == ForeignUse::kPassing && !HasRoomForPassing(tables)) return nullptr;
  ForeignText* const made = Make(text, hash);
  if (made == nullptr) return nullptr;
  do {
    made->next = first;
    // release: a thread that finds the text sees all of it.
  } while (!place.compare_exchange_weak(first, made, std::memory_order_release,
                                        std::memory_order_acquire));
  // Two threads may have made the same text at once: two copies of one name.
  return made;
}

uint32_t ForeignIdSlow(ForeignText* text) noexcept {
  const uint32_t id = Host().intern(text->text, text->size);
  // If the table of names is full, each record carries the text instead.
  text->id.store(id != kNameLost ? id : kNameInPayload,
                 std::memory_order_relaxed);
  return text->id.load(std::memory_order_relaxed);
}

ForeignName NameOfSlow(const char* text) noexcept {
  const std::string_view view =
      text != nullptr ? std::string_view(text) : kNoForeignName;
  ForeignTables* const tables = Tables();
  if (tables == nullptr) return {kNameInPayload, view};
  ForeignPointer& place = PlaceOfPointer(tables, text);
  if (place.pointer.load(std::memory_order_relaxed) != text) {
    place.pointer.store(text, std::memory_order_relaxed);
    place.changes.store(0, std::memory_order_relaxed);
  }
  const uint32_t changes = place.changes.load(std::memory_order_relaxed);
  if (changes == kMaxTextChanges) return {kNameInPayload, view};
  place.changes.store(changes + 1, std::memory_order_relaxed);
  ForeignText* const known = AddForeignText(view, ForeignUse::kPassing);
  if (known == nullptr) return {kNameInPayload, view};
  // release: see NameOf. A null pointer's text is no text to compare.
  if (text != nullptr) place.text.store(known, std::memory_order_release);
  return NameOf(known);
}

size_t Utf8OfWide(const wchar_t* text, char* to, size_t size) noexcept {
  size_t used = 0;
  auto put = [&](uint32_t byte) { to[used++] = static_cast<char>(byte); };
  for (; *text != L'\0'; ++text) {
    uint32_t c = static_cast<uint32_t>(*text);
    // Surrogates, and what is beyond Unicode, become its replacement character.
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    const size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (used + bytes > size) {
      Host().count_truncated();
      break;
    }
    if (bytes == 1) {
      put(c);
      continue;
    }
    constexpr uint32_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    put(kLead[bytes] | c >> (6 * (bytes - 1)));
    for (size_t i = bytes - 1; i-- > 0;) put(0x80 | (c >> (6 * i) & 0x3f));
  }
  return used;
}

}  // namespace kymo::record
