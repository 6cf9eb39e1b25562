#include "backends/mpi/target/communicators.h"

#include <stdio.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "backends/mpi/target/spin_lock.h"
#include "profiler/record/range.h"

namespace kymo::mpi {
namespace {

constexpr size_t kTableSize = 1 << 12;
constexpr size_t kMostProbed = 64;
constexpr Word kFreed = 1;  // no handle of any implementation

struct Communicator {
  std::atomic<Word> handle{0};
  int64_t id = kUnknownCommunicator;
  uint64_t group = 0;  // hash of its ranks
  int rank = 0;        // ours
  Peers peers;
};
constinit Communicator table[kTableSize];
constinit SpinLock lock;

// The ranks of groups, and how many communicators each group had. The numbers
// stay: requests refer to them after a communicator was freed.
struct Group {
  uint64_t hash = 0;
  uint32_t made = 0;
  const int* world_ranks = nullptr;
};
constinit Group groups[kTableSize];

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

// The ranks of a group, as numbers of MPI_COMM_WORLD.
class Ranks {
 public:
  // `group_of` is PMPI_Comm_group or PMPI_Comm_remote_group.
  Ranks(OwnFunction<2>& group_of, Word comm) noexcept {
    Word group = 0;
    if (group_of(comm, &group) != kSuccess) return;
    Word world_group = 0;
    int size = 0;
    if (group_size(group, &size) == kSuccess && size > 0 &&
        comm_group(Abi().comm_world, &world_group) == kSuccess) {
      Translate(group, world_group, size);
      group_free(&world_group);
    }
    group_free(&group);
  }
  ~Ranks() {
    if (world_ != nullptr) munmap(world_, bytes_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const noexcept { return size_; }
  int operator[](int rank) const noexcept { return world_[rank]; }
  int Lowest() const noexcept {
    return size_ == 0 ? 0 : *std::min_element(world_, world_ + size_);
  }
  uint64_t Hash() const noexcept {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < size_; ++i) hash = Mixed(hash, world_[i]);
    return hash;
  }
  bool IsIdentity() const noexcept {
    for (int i = 0; i < size_; ++i) {
      if (world_[i] != i) return false;
    }
    return true;
  }
  // The numbers, which the caller keeps for ever.
  const int* Keep() noexcept {
    const int* const kept = world_;
    world_ = nullptr;
    return kept;
  }

 private:
  void Translate(Word group, Word world_group, int size) noexcept {
    bytes_ = 2 * sizeof(int) * static_cast<size_t>(size);
    void* const pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    world_ = static_cast<int*>(pages);
    // The second half has the numbers of the group itself.
    int* const own = world_ + size;
    for (int i = 0; i < size; ++i) own[i] = i;
    if (translate_ranks(group, size, own, world_group, world_) == kSuccess) {
      size_ = size;
    }
  }

  int size_ = 0;
  size_t bytes_ = 0;
  int* world_ = nullptr;
};

// REQUIRES, here and below: the lock is held.
Group* GroupOf(uint64_t hash) noexcept {
  for (size_t probe = 0; probe < kTableSize; ++probe) {
    Group& group = groups[(hash + probe) % kTableSize];
    if (group.hash == 0) group.hash = hash;
    if (group.hash == hash) return &group;
  }
  return nullptr;
}

// "0-3,7": the ranks, as far as they fit.
size_t WriteRanks(const Peers& peers, char* text, size_t room) noexcept {
  size_t used = 0;
  for (int i = 0; i < peers.size && used + 32 < room;) {
    int last = i;
    const int64_t first = peers.WorldRank(i);
    while (first >= 0 && last + 1 < peers.size &&
           peers.WorldRank(last + 1) == peers.WorldRank(last) + 1) {
      ++last;
    }
    used += snprintf(text + used, room - used, used == 0 ? "%d" : ",%d",
                     static_cast<int>(first));
    if (last > i) {
      used += snprintf(text + used, room - used, "-%d",
                       static_cast<int>(peers.WorldRank(last)));
    }
    i = last + 1;
  }
  return used;
}

void Record(const Communicator& entry, std::string_view name) noexcept {
  if (!record::IsOn()) return;
  char text[512];
  const size_t text_size = WriteRanks(entry.peers, text, sizeof(text));
  const record::Arg args[] = {{"comm", entry.id},
                              {"size", entry.peers.size},
                              {"rank", entry.rank},
                              {"ranks", std::string_view(text, text_size)},
                              {"name", name}};
  record::RecordInstant("MPI_Comm", {}, args, std::size(args));
}

void RecordCommunicator(Word handle, const Communicator& entry) noexcept {
  char name[512] = "";
  int size = 0;
  if (comm_get_name(handle, name, &size) != kSuccess || size < 0) size = 0;
  Record(entry, std::string_view(name, size));
}

Communicator* Find(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Communicator& entry = table[(PlaceOf(handle) + probe) % kTableSize];
    const Word there = entry.handle.load(std::memory_order_acquire);
    if (there == handle) return &entry;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

Communicator* TakeEntry(Word handle) noexcept {
  for (size_t probe = 0; probe < kMostProbed; ++probe) {
    Communicator& entry = table[(PlaceOf(handle) + probe) % kTableSize];
    const Word there = entry.handle.load(std::memory_order_relaxed);
    if (there == 0 || there == kFreed) return &entry;
  }
  return nullptr;
}

// The ranks of a group as `peers`, which stay. False: they are not known, or
// there are too many groups.
bool Keep(Ranks& ranks, Peers& peers) noexcept {
  if (ranks.size() == 0) return false;
  Group* const group = GroupOf(ranks.Hash());
  if (group == nullptr) return false;
  if (!ranks.IsIdentity() && group->world_ranks == nullptr) {
    group->world_ranks = ranks.Keep();
  }
  peers.size = ranks.size();
  peers.world_ranks = group->world_ranks;
  return true;
}

// The ranks that calls on the communicator name, and a hash that all its
// members find, on both sides of an intercommunicator.
bool ReadGroups(Word handle, Communicator& entry) noexcept {
  int is_inter = 0;
  comm_test_inter(handle, &is_inter);
  Ranks own(comm_group, handle);
  entry.group = own.Hash();
  entry.peers.own_size = own.size();
  if (is_inter == 0) return Keep(own, entry.peers);
  Ranks remote(comm_remote_group, handle);
  uint64_t first = own.Hash();
  uint64_t second = remote.Hash();
  if (remote.Lowest() < own.Lowest()) std::swap(first, second);
  entry.group = Mixed(Mixed(first, second), 1);
  return Keep(remote, entry.peers);
}

int64_t IdOf(Word handle, uint64_t group, uint32_t place) noexcept {
  // 0 is MPI_COMM_WORLD. Short, because people read it.
  if (handle == Abi().comm_world) return 0;
  return 1 + static_cast<int64_t>(Mixed(group, place) % 0x7ffffffe);
}

// `place` is null: the next one of its group.
void Add(Word handle, const uint32_t* place) noexcept {
  handle = Handle(handle);
  if (handle == Abi().comm_null || handle == 0) return;
  const SpinLock::Held held(lock);
  if (Find(handle) != nullptr) return;
  Communicator* const entry = TakeEntry(handle);
  if (entry == nullptr || !ReadGroups(handle, *entry)) return;
  Group* const group = GroupOf(entry->group);
  if (group == nullptr) return;
  entry->id = IdOf(handle, entry->group, place ? *place : group->made++);
  entry->rank = 0;
  comm_rank(handle, &entry->rank);
  entry->handle.store(handle, std::memory_order_release);
  RecordCommunicator(handle, *entry);
}

}  // namespace

bool FindPeers(Word key, Request& request) noexcept {
  const Communicator* const found = Find(key);
  if (found == nullptr) return false;
  request.comm_id = found->id;
  request.peers = found->peers;
  return true;
}

void AddCommunicator(Word handle) noexcept { Add(handle, nullptr); }

void AddCommunicatorAt(Word handle, uint32_t place) noexcept {
  Add(handle, &place);
}

uint32_t ReservePlace(Word parent) noexcept {
  AddCommunicator(parent);
  const SpinLock::Held held(lock);
  const Communicator* const found = Find(Handle(parent));
  Group* const group = found == nullptr ? nullptr : GroupOf(found->group);
  return group == nullptr ? 0 : group->made++;
}

void RemoveCommunicator(Word handle) noexcept { RemoveShared(Handle(handle)); }

void NameShared(Word key, const char* name) noexcept {
  const SpinLock::Held held(lock);
  const Communicator* const found = Find(key);
  if (found != nullptr && name != nullptr) Record(*found, name);
}

void AddShared(Word key, Word comm, const char* what) noexcept {
  AddCommunicator(comm);
  const SpinLock::Held held(lock);
  const Communicator* const parent = Find(Handle(comm));
  Group* const group = parent == nullptr ? nullptr : GroupOf(parent->group);
  if (group == nullptr || key == 0 || Find(key) != nullptr) return;
  Communicator* const entry = TakeEntry(key);
  if (entry == nullptr) return;
  entry->id = IdOf(key, parent->group, group->made++);
  entry->group = parent->group;
  entry->rank = parent->rank;
  entry->peers = parent->peers;
  entry->handle.store(key, std::memory_order_release);
  Record(*entry, what);
}

void RemoveShared(Word key) noexcept {
  const SpinLock::Held held(lock);
  Communicator* const found = Find(key);
  if (found != nullptr) found->handle.store(kFreed, std::memory_order_release);
}

}  // namespace kymo::mpi
