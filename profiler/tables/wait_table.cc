#include <optional>

#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::Wait;
using model::WaitSum;

size_t WaitCount(const Source& s) {
  const model::ThreadStates* const states = s.trace().thread_states();
  return states == nullptr ? 0 : states->waits.size();
}

// Waits come first, then the sums of short ones. Null: a sum.
const Wait* WaitOf(const Source& s, size_t row) {
  return row < WaitCount(s) ? &s.trace().thread_states()->waits[row] : nullptr;
}
const WaitSum& WaitSumOf(const Source& s, size_t row) {
  return s.trace().thread_states()->short_waits[row - WaitCount(s)];
}

// A member that waits and sums have.
template <typename T>
T OfBoth(const Source& s, size_t row, T Wait::*of_wait, T WaitSum::*of_sum) {
  const Wait* const wait = WaitOf(s, row);
  return wait != nullptr ? wait->*of_wait : WaitSumOf(s, row).*of_sum;
}

// A member that only waits have; nothing if it is `none`.
template <typename T>
std::optional<T> OfWait(const Source& s, size_t row, T Wait::*member,
                        std::type_identity_t<T> none) {
  const Wait* const wait = WaitOf(s, row);
  if (wait == nullptr) return std::nullopt;
  return Unless(wait->*member, none);
}

std::optional<uint32_t> StackOf(const Source& s, size_t row,
                                model::StackId Wait::*member) {
  const auto stack = OfWait(s, row, member, model::kEmptyStack);
  if (!stack) return std::nullopt;
  return Index(*stack);
}

constexpr Column kWaitColumns[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("track_id", "The thread that waited",
           [](const Source& s, size_t row) {
             return OfBoth(s, row, &Wait::track, &WaitSum::track);
           })
        .Of("tracks.id"),
    Define("kind", "What for: lock, sleep, network, page fault, ...",
           [](const Source& s, size_t row) {
             return s.texts().wait_kind(
                 OfBoth(s, row, &Wait::kind, &WaitSum::kind));
           }),
    Define("start_ns", "When it began, since the epoch; NULL of a sum",
           [](const Source& s, size_t row) {
             const Wait* const wait = WaitOf(s, row);
             return wait != nullptr ? std::optional(wait->begin_ns)
                                    : std::nullopt;
           })
        .In("ns"),
    Define("dur_ns", "Until the thread ran again; of a sum, all together",
           [](const Source& s, size_t row) {
             return OfBoth(s, row, &Wait::duration_ns, &WaitSum::duration_ns);
           })
        .In("ns"),
    Define("count", "How many waits the row stands for; more than 1 of a sum",
           [](const Source& s, size_t row) -> uint64_t {
             return WaitOf(s, row) != nullptr ? 1 : WaitSumOf(s, row).count;
           }),
    Define("longest_ns", "The longest of them",
           [](const Source& s, size_t row) {
             return OfBoth(s, row, &Wait::duration_ns, &WaitSum::longest_ns);
           })
        .In("ns"),
    Define("runnable_ns",
           "For how long it could run at the end; NULL: nobody saw it woken",
           [](const Source& s, size_t row) {
             return OfWait(s, row, &Wait::runnable_ns, -1);
           })
        .In("ns"),
    Define("is_open", "It went on when the recording ended",
           [](const Source& s, size_t row) {
             const Wait* const wait = WaitOf(s, row);
             return wait != nullptr && wait->is_open;
           }),
    Define("is_idle", "The thread waited for work; NULL of a sum",
           [](const Source& s, size_t row) -> std::optional<bool> {
             if (WaitOf(s, row) == nullptr) return std::nullopt;
             return static_cast<bool>(s.idle_waits()[row]);
           }),
    Define("event_id", "The innermost range of the thread when it began",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             if (WaitOf(s, row) == nullptr) return std::nullopt;
             return Unless(s.events_of_waits()[row], model::kNoEvent);
           })
        .Of("events.id"),
    Define("stack_id", "Where the thread waited",
           [](const Source& s, size_t row) {
             return Unless(Index(OfBoth(s, row, &Wait::stack, &WaitSum::stack)),
                           0);
           })
        .Of("stacks.id"),
    Define("object", "A lock's address, a descriptor or a child's id, by kind",
           [](const Source& s, size_t row) {
             return Unless(OfBoth(s, row, &Wait::object, &WaitSum::object), 0);
           }),
    Define("object_name", "A path, a peer, a lock's first place",
           [](const Source& s, size_t row) {
             return Unless(
                 OfBoth(s, row, &Wait::object_name, &WaitSum::object_name),
                 model::kEmptyName);
           }),
    Define("waker_track_id", "The thread that ended the wait",
           [](const Source& s, size_t row) {
             return OfWait(s, row, &Wait::waker, model::kNoTrack);
           })
        .Of("tracks.id"),
    Define("waker_stack_id", "Where that thread was",
           [](const Source& s, size_t row) {
             return StackOf(s, row, &Wait::waker_stack);
           })
        .Of("stacks.id"),
    Define("holder_track_id", "The thread that held the lock meanwhile",
           [](const Source& s, size_t row) {
             return OfWait(s, row, &Wait::holder, model::kNoTrack);
           })
        .Of("tracks.id"),
    Define("holder_stack_id", "Where that thread was",
           [](const Source& s, size_t row) {
             return StackOf(s, row, &Wait::holder_stack);
           })
        .Of("stacks.id"),
};

}  // namespace

Table WaitsTable() {
  return {.name = "waits",
          .meaning = "A wait of a thread, or the sum of short ones",
          .order = "waits by track and time, then sums by track",
          .example =
              "select kind, sum(count), sum(dur_ns) from waits "
              "where is_idle is not true group by kind order by 3 desc",
          .columns = kWaitColumns,
          .row_count = [](const Source& s) {
            const model::ThreadStates* const states = s.trace().thread_states();
            return states == nullptr
                       ? size_t{0}
                       : states->waits.size() + states->short_waits.size();
          }};
}

}  // namespace kymo::tables
