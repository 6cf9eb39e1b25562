#include "backends/mpi/target/communicators.h"

#include <stdio.h>
#include <sys/mman.h>

#include "backends/mpi/target/spin_lock.h"
#include "profiler/record/range.h"

namespace kymo::mpi {
namespace {

constexpr size_t kTableSize = 1 << 12;
constexpr size_t kMostProbed = 64;
constexpr Word kFreed = 1;  // no handle of any implementation

constinit Communicator table[kTableSize];
constinit SpinLock lock;

// How many communicators each group had, by the hash of its ranks.
struct GroupCount {
  uint64_t hash = 0;
  uint32_t made = 0;
};
constinit GroupCount groups[kTableSize];

constinit OwnFunction<2> comm_size("PMPI_Comm_size");
constinit OwnFunction<2> comm_rank("PMPI_Comm_rank");
constinit OwnFunction<2> comm_test_inter("PMPI_Comm_test_inter");
constinit OwnFunction<2> comm_group("PMPI_Comm_group");
constinit OwnFunction<2> comm_remote_group("PMPI_Comm_remote_group");
constinit OwnFunction<3> comm_get_name("PMPI_Comm_get_name");
constinit OwnFunction<2> group_size("PMPI_Group_size");
constinit OwnFunction<1> group_free("PMPI_Group_free");
constinit OwnFunction<5> translate_ranks("PMPI_Group_translate_ranks");

size_t PlaceOf(Word handle) noexcept {
  return handle * 0x9e3779b97f4a7c15u >> (64 - 12);
}

uint64_t Mixed(uint64_t hash, uint64_t value) noexcept {
  return (hash ^ value) * 0x100000001b3u;
}

// Room for `count` ints, which nobody frees.
int* Pages(size_t count) noexcept {
  void* const pages = mmap(nullptr, count * sizeof(int), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<int*>(pages);
}

// The ranks of a group, as numbers of MPI_COMM_WORLD.
struct Ranks {
  int size = 0;
  int* world = nullptr;
  bool is_identity = true;
};

Ranks RanksOf(Word comm, bool is_inter, Communicator& entry) noexcept {
  Ranks ranks;
  Word group = 0;
  Word world_group = 0;
  if ((is_inter ? comm_remote_group : comm_group)(comm, &group) != kSuccess) {
    return ranks;
  }
  int size = 0;
  if (comm_group(Abi().comm_world, &world_group) == kSuccess &&
      group_size(group, &size) == kSuccess && size > 0) {
    // The second half has the numbers of the group itself.
    if (entry.capacity < static_cast<size_t>(size)) {
      entry.storage = Pages(2 * static_cast<size_t>(size));
      entry.capacity = entry.storage == nullptr ? 0 : size;
    }
    ranks.world = entry.storage;
    if (ranks.world != nullptr) {
      int* const own = ranks.world + entry.capacity;
      for (int i = 0; i < size; ++i) own[i] = i;
      if (translate_ranks(group, size, own, world_group, ranks.world) ==
          kSuccess) {
        ranks.size = size;
        for (int i = 0; i < size; ++i) ranks.is_identity &= ranks.world[i] == i;
      }
    }
    group_free(&world_group);
  }
  group_free(&group);
  return ranks;
}

// How many communicators of this group there were. REQUIRES: the lock is held.
uint32_t CountOfGroup(uint64_t hash) noexcept {
  for (size_t probe = 0; probe < kTableSize; ++probe) {
    GroupCount& group = groups[(hash + probe) % kTableSize];
    if (group.made == 0) group.hash = hash;
    if (group.hash == hash) return group.made++;
  }
  return 0;
}

// "0-3,7": the ranks, as far as they fit.
size_t WriteRanks(const Ranks& ranks, char* text, size_t room) noexcept {
  size_t used = 0;
  for (int i = 0; i < ranks.size && used + 32 < room;) {
    int last = i;
    while (last + 1 < ranks.size &&
           ranks.world[last + 1] == ranks.world[last] + 1) {
      ++last;
    }
    used += snprintf(text + used, room - used, used == 0 ? "%d" : ",%d",
                     ranks.world[i]);
    if (last > i) {
      used += snprintf(text + used, room - used, "-%d", ranks.world[last]);
    }
    i = last + 1;
  }
  return used;
}

void Record(Word handle, const Communicator& entry,
            const Ranks& ranks) noexcept {
  if (!record::IsOn()) return;
  char name[512] = "";
  int size = 0;
  if (comm_get_name(handle, name, &size) != kSuccess) size = 0;
  char text[512];
  const size_t text_size = WriteRanks(ranks, text, sizeof(text));
  const record::Arg args[] = {
      {"comm", entry.id},
      {"size", entry.size},
      {"rank", entry.rank},
      {"ranks", std::string_view(text, text_size)},
      {"name", std::string_view(name, size < 0 ? 0 : size)}};
  record::RecordInstant("MPI_Comm", {}, args, std::size(args));
}

// An entry for a new handle. REQUIRES: the lock is held.
Communicator* TakeEntry(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Communicator& entry = table[(PlaceOf(handle) + probe) % kTableSize];
    const Word there = entry.handle.load(std::memory_order_relaxed);
    if (there == 0 || there == kFreed || there == handle) return &entry;
  }
  return nullptr;
}

}  // namespace

const Communicator* FindCommunicator(Word handle) noexcept {
  handle = Handle(handle);
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    const Communicator& entry = table[(PlaceOf(handle) + probe) % kTableSize];
    const Word there = entry.handle.load(std::memory_order_acquire);
    if (there == handle) return &entry;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

void AddCommunicator(Word handle) noexcept {
  handle = Handle(handle);
  if (handle == Abi().comm_null || handle == 0) return;
  const SpinLock::Held held(lock);
  Communicator* const entry = TakeEntry(handle);
  if (entry == nullptr) return;
  entry->handle.store(kFreed, std::memory_order_relaxed);
  int is_inter = 0;
  comm_test_inter(handle, &is_inter);
  const Ranks ranks = RanksOf(handle, is_inter != 0, *entry);
  uint64_t hash = Mixed(0xcbf29ce484222325u, is_inter);
  for (int i = 0; i < ranks.size; ++i) hash = Mixed(hash, ranks.world[i]);
  // 0 is MPI_COMM_WORLD. Short, because people read it.
  entry->id = handle == Abi().comm_world
                  ? 0
                  : 1 + Mixed(hash, CountOfGroup(hash)) % 0x7ffffffe;
  entry->size = ranks.size;
  entry->rank = 0;
  comm_rank(handle, &entry->rank);
  entry->world_ranks = ranks.is_identity ? nullptr : ranks.world;
  entry->handle.store(handle, std::memory_order_release);
  Record(handle, *entry, ranks);
}

void RemoveCommunicator(Word handle) noexcept {
  handle = Handle(handle);
  const SpinLock::Held held(lock);
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Communicator& entry = table[(PlaceOf(handle) + probe) % kTableSize];
    if (entry.handle.load(std::memory_order_relaxed) == handle) {
      entry.handle.store(kFreed, std::memory_order_release);
      return;
    }
  }
}

}  // namespace kymo::mpi
