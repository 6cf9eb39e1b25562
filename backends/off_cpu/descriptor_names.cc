#include "backends/off_cpu/descriptor_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/clock.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/strings.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// Samples and calls are too many to read a link for each. The age of a link
// that still counts, while there is time to read more of them, and else.
constexpr uint64_t kLinkAgeNs = 20 * kNsPerMs;
constexpr uint64_t kOldLinkAgeNs = kNsPerSecond;
constexpr int kMostReads = 16;  // between two calls of Search
// The same for what a descriptor is.
constexpr uint64_t kTextAgeNs = kNsPerSecond;
constexpr size_t kMostKnown = 10'000;
constexpr int64_t kSearchNs = 100 * kNsPerUs;  // every 5 ms
constexpr int64_t kLastSearchNs = 200 * kNsPerMs;
// More are only counted.
constexpr size_t kMostNamed = 3;
// Of an epoll with more, so many are looked at for one that listens: a server
// opens it before it has clients.
constexpr size_t kMostAsked = 16;

constexpr std::string_view kClosed = "(closed)";
constexpr std::string_view kTimerText = "timerfd";
constexpr std::string_view kAnonymous = "anon_inode:";

uint64_t ClockNs() { return static_cast<uint64_t>(MonotonicNs()); }

bool IsSocket(std::string_view link) { return link.starts_with("socket:["); }
bool IsPipe(std::string_view link) { return link.starts_with("pipe:["); }
bool IsEpoll(std::string_view link) { return link == "anon_inode:[eventpoll]"; }

// "eventfd" of "anon_inode:[eventfd]"
std::string AnonymousText(std::string_view link) {
  link.remove_prefix(kAnonymous.size());
  if (link.starts_with('[') && link.ends_with(']')) {
    link = link.substr(1, link.size() - 2);
  }
  return std::string(link == "eventpoll" ? "epoll" : link);
}

// The descriptors of an epoll, by number: the lines "tfd: 7 events: ...".
// False: it has more than can be read.
bool ReadEpoll(const ThreadKey& thread, uint64_t number,
               std::vector<uint64_t>& descriptors) {
  constexpr size_t kMostBytes = size_t{64} << 10;
  const std::string path = absl::StrCat("/proc/", thread.pid, "/task/",
                                        thread.tid, "/fdinfo/", number);
  const OwnedDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return true;
  std::string text(kMostBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.get(), &text[size], text.size() - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  const std::string_view all(text.data(), size);
  constexpr std::string_view kBegin = "tfd:";
  for (size_t at = all.find(kBegin); at != std::string_view::npos;
       at = all.find(kBegin, at + 1)) {
    const size_t first = all.find_first_not_of(' ', at + kBegin.size());
    uint64_t descriptor = 0;
    if (first == std::string_view::npos) break;
    std::from_chars(all.data() + first, all.data() + size, descriptor);
    descriptors.push_back(descriptor);
  }
  std::ranges::sort(descriptors);
  return size < text.size();
}

// Whoever waits for such a descriptor waits for clients.
bool Listens(const DescriptorInfo& descriptor, std::string_view text) {
  return IsSocket(descriptor.link) && text.find(" listening on ") != text.npos;
}
std::string AmongThem(uint64_t descriptor, std::string_view text) {
  return absl::StrCat(", among them ", descriptor, " ", ToAbsl(text));
}

}  // namespace

void DescriptorNames::Set(const ThreadKey& thread, const DescriptorUse& use,
                          WaitCause& cause) {
  const Known known = Find(thread, cause.object, use);
  const DescriptorInfo& descriptor = known.descriptor;
  cause.kind = KindOfDescriptor(cause.kind, descriptor.link, descriptor.mode);
  if (known.has_only_timers) cause.kind = WaitKind::kSleep;
  cause.object_name = log_->Name(known.id);
  // Of what was searched for, more is known than the descriptor says.
  if (known.id == known.text ||
      searched_.contains(static_cast<uint32_t>(cause.object_name))) {
    return;
  }
  log_->Show(cause.object_name, known.text);
  WantOtherEnd(thread, known, cause.object_name);
}

void DescriptorNames::SetPolled(const ThreadKey& thread,
                                const DescriptorUse& use, const Polled& polled,
                                WaitCause& cause) {
  if (polled.count == 1 && !polled.first.empty()) {
    cause.object = static_cast<uint64_t>(polled.first.front());
    Set(thread, use, cause);
    return;
  }
  if (polled.count == 0) {  // nothing but the time limit ends it
    cause.kind = WaitKind::kSleep;
    return;
  }
  std::string text = absl::StrCat(polled.count, " descriptors");
  if (polled.count <= kMostNamed) {
    const char* separator = ": ";
    bool has_only_timers = !polled.first.empty();
    for (const int32_t number : polled.first) {
      const auto descriptor = static_cast<uint64_t>(number);
      const Known known = Find(thread, descriptor, use);
      absl::StrAppend(&text, separator, descriptor,
                      known.text.empty() ? "" : " ", known.text);
      separator = ", ";
      has_only_timers = has_only_timers &&
                        (known.has_only_timers || known.text == kTimerText);
    }
    if (has_only_timers) cause.kind = WaitKind::kSleep;
  } else {
    for (const int32_t number : polled.first) {
      const auto descriptor = static_cast<uint64_t>(number);
      const Known known = Find(thread, descriptor, use);
      if (!Listens(known.descriptor, known.text)) continue;
      absl::StrAppend(&text, AmongThem(descriptor, known.text));
      break;
    }
  }
  cause.object_name = log_->Name(text);
}

DescriptorNames::Known DescriptorNames::Find(const ThreadKey& thread,
                                             uint64_t number,
                                             const DescriptorUse& use) {
  bool has_changed = false;
  Link& link = Read(thread, number, use, has_changed);
  const DescriptorInfo& info = link.descriptor;
  if (use.inode != 0 && use.inode != info.inode) {
    return FindOther(use, info.is_closed || info.inode != 0);
  }
  if (has_changed && use.sampled != nullptr) {
    // Whether the wait began before that or after it, nobody knows, unless it
    // goes on.
    const auto call = ReadCall(thread.pid, thread.tid);
    if (!call || call->number != use.sampled->number ||
        call->arguments[0] != use.sampled->arguments[0]) {
      return {};
    }
  }
  if (info.is_closed) {
    return {std::string(kClosed), std::string(kClosed), info};
  }
  std::string text = Describe(thread, number, link, /*is_part=*/false);
  if (IsPipe(info.link)) {
    return {absl::StrCat(info.link, info.is_writable ? " to " : " from ",
                         thread.pid),
            std::move(text), info};
  }
  return {IsSocket(info.link) ? info.link : text, std::move(text), info,
          link.has_only_timers};
}

// The number is another file's by now, or nobody's.
DescriptorNames::Known DescriptorNames::FindOther(const DescriptorUse& use,
                                                  bool was_closed) const {
  Known known;
  known.descriptor = {.mode = use.mode & S_IFMT, .inode = use.inode};
  std::string& link = known.descriptor.link;
  const auto set = [&](const char* kind) {
    link = absl::StrCat(kind, ":[", use.inode, "]");
    known.text = kind;
  };
  if (S_ISSOCK(use.mode)) set("socket");
  if (S_ISFIFO(use.mode)) set("pipe");
  if ((use.mode & S_IFMT) == 0) link = kAnonymous;
  const auto socket = sockets_.find(use.inode);
  if (S_ISSOCK(use.mode) && socket != sockets_.end() &&
      !socket->second.name.text.empty()) {
    known.text = socket->second.name.text;
  } else if (was_closed) {
    absl::StrAppend(&known.text, known.text.empty() ? "" : " ",
                    ToAbsl(kClosed));
  }
  known.id = known.text;
  if (S_ISSOCK(use.mode)) known.id = link;
  if (S_ISFIFO(use.mode)) known.id = absl::StrCat(link, " ", known.text);
  return known;
}

DescriptorNames::Link& DescriptorNames::Read(const ThreadKey& thread,
                                             uint64_t number,
                                             const DescriptorUse& use,
                                             bool& has_changed) {
  const uint64_t now_ns = ClockNs();
  if (links_.size() >= kMostKnown) links_.clear();
  Link& link = links_[{thread.pid, number}];
  const bool is_other = use.inode != 0 && use.inode != link.descriptor.inode;
  const uint64_t age_ns = reads_left_ > 0 ? kLinkAgeNs : kOldLinkAgeNs;
  const bool is_known = link.read_ns != 0;
  if (is_known && !use.is_look() && !is_other &&
      now_ns - link.read_ns < age_ns) {
    return link;
  }
  --reads_left_;
  DescriptorInfo seen = LookAtDescriptor(thread.pid, thread.tid, number);
  link.read_ns = now_ns;
  // The process has ended: what it was is better.
  if (seen.link.empty() && !seen.is_closed) return link;
  has_changed = is_known && (seen.inode != link.descriptor.inode ||
                             seen.link != link.descriptor.link);
  if (has_changed) {
    link.described_ns = 0;
    link.has_only_timers = false;
  }
  link.descriptor = std::move(seen);
  return link;
}

std::string DescriptorNames::Describe(const ThreadKey& thread, uint64_t number,
                                      Link& link, bool is_part) {
  const std::string& target = link.descriptor.link;
  if (IsSocket(target)) {
    const std::string& text =
        SocketOf(thread, number, link.descriptor.inode).text;
    return text.empty() ? "socket" : text;
  }
  if (IsPipe(target)) return "pipe";
  if (!target.starts_with(kAnonymous)) return target;
  if (!IsEpoll(target) || is_part) return AnonymousText(target);
  const uint64_t now_ns = ClockNs();
  if (link.described_ns == 0 || now_ns - link.described_ns >= kTextAgeNs) {
    link.described_ns = now_ns;
    DescribeEpoll(thread, number, link);
  }
  return link.text;
}

void DescriptorNames::DescribeEpoll(const ThreadKey& thread, uint64_t number,
                                    Link& epoll) {
  std::vector<uint64_t> descriptors;
  const bool is_whole = ReadEpoll(thread, number, descriptors);
  epoll.has_only_timers = false;
  epoll.text = "epoll";
  if (descriptors.empty()) return;
  absl::StrAppend(&epoll.text, " of ", is_whole ? "" : "more than ",
                  descriptors.size(),
                  descriptors.size() == 1 ? " descriptor" : " descriptors");
  if (!is_whole || descriptors.size() > kMostNamed) {
    return NameListener(thread, descriptors, epoll);
  }
  epoll.has_only_timers = true;
  const char* separator = ": ";
  for (const uint64_t descriptor : descriptors) {
    Link link;
    link.descriptor = LookAtDescriptor(thread.pid, thread.tid, descriptor);
    const std::string part =
        Describe(thread, descriptor, link, /*is_part=*/true);
    absl::StrAppend(&epoll.text, separator, descriptor, part.empty() ? "" : " ",
                    part);
    epoll.has_only_timers = epoll.has_only_timers && part == kTimerText;
    separator = ", ";
  }
}

void DescriptorNames::NameListener(const ThreadKey& thread,
                                   std::vector<uint64_t> descriptors,
                                   Link& epoll) {
  descriptors.resize(std::min(descriptors.size(), kMostAsked));
  for (const uint64_t descriptor : descriptors) {
    Link link;
    link.descriptor = LookAtDescriptor(thread.pid, thread.tid, descriptor);
    const std::string part =
        Describe(thread, descriptor, link, /*is_part=*/true);
    if (!Listens(link.descriptor, part)) continue;
    absl::StrAppend(&epoll.text, AmongThem(descriptor, part));
    return;
  }
}

const SocketName& DescriptorNames::SocketOf(const ThreadKey& thread,
                                            uint64_t number, uint64_t inode) {
  if (sockets_.size() >= kMostKnown) sockets_.clear();
  Socket& socket = sockets_[inode];
  const uint64_t now_ns = ClockNs();
  if (socket.asked_ns == 0 ||
      (!socket.name.is_connected && now_ns - socket.asked_ns >= kTextAgeNs)) {
    socket.asked_ns = now_ns;
    SocketName name = NameSocket(thread.pid, number, inode);
    if (!name.text.empty()) socket.name = std::move(name);
  }
  return socket.name;
}

void DescriptorNames::WantOtherEnd(const ThreadKey& thread, const Known& known,
                                   model::NameId name) {
  const DescriptorInfo& info = known.descriptor;
  OtherEnd end = {.inode = info.inode,
                  .own_pid = thread.pid,
                  .id = static_cast<uint32_t>(name)};
  std::string before;
  if (IsPipe(info.link)) {
    if (known.id == known.text ||
        !known.id.ends_with(absl::StrCat(" ", thread.pid))) {
      return;  // it is closed
    }
    end.side = info.is_writable ? Side::kReader : Side::kWriter;
    before = info.is_writable ? "pipe to " : "pipe from ";
  } else {
    const auto socket = sockets_.find(info.inode);
    if (socket == sockets_.end() || socket->second.name.peer_inode == 0 ||
        known.text.find(" from ") != std::string::npos) {
      return;
    }
    end.inode = socket->second.name.peer_inode;
    end.side = Side::kSocket;
    before = absl::StrCat(known.text, " to ");
  }
  if (!searched_.try_emplace(end.id, std::move(before)).second) return;
  ends_.Want(end);
}

void DescriptorNames::OnFound(uint32_t id, const std::string& text) {
  const auto searched = searched_.find(id);
  if (searched == searched_.end()) return;
  log_->Show(static_cast<model::NameId>(id),
             absl::StrCat(searched->second, text));
}

void DescriptorNames::Search() {
  reads_left_ = kMostReads;
  ends_.Search(kSearchNs, [this](uint32_t id, const std::string& text) {
    OnFound(id, text);
  });
}

void DescriptorNames::Finish() {
  ends_.Finish(kLastSearchNs, [this](uint32_t id, const std::string& text) {
    OnFound(id, text);
  });
}

}  // namespace kymo::off_cpu
