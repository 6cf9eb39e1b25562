// messages.h - which message went from where to where, and who was late.
//
//   const MatchedMessages matched = MatchMessages(trace, calls);
//   for (const Message& m : matched.messages) Print(m.late_sender_ns);
//
// Messages of one sender to one receiver with one tag on one communicator do
// not overtake each other (MPI 4.0, 3.5). So the nth send belongs to the nth
// receive, where receives count in the order in which they were begun. What
// MPI_Mprobe finds is taken then, before MPI_Mrecv begins.
//
// A late sender is one that began to send when the receiver already waited in
// MPI_Recv, or in the MPI_Probe before it; a late receiver is one that had not
// begun to receive when the sender already was in a blocking send that was not
// over before. If the late one began a request (MPI_Irecv), and the other's
// call was over only after it had come to its MPI_Wait, it was late until then.
// If it never came there, and the other's call was not over when the recording
// ended, it was late all the time. Who waits for a request does so in MPI_Wait
// (rank_waits.h), not here.
//
// MPI_Sendrecv waits for the later of its two partners, once: the other of its
// two messages has no waiting.
//
// A call that went on when the recording ended, and whose other rank has not
// begun its part, waited for that rank all the time. So a rank that died, or
// hangs elsewhere, is named. Nobody is if the call is for MPI_ANY_SOURCE or
// MPI_ANY_TAG, also if MPI_Sendrecv sends to one rank and receives so. If a
// message is through, and its receiver was in a later call for it alone, such a
// receive has taken it before.
//
// Units: nanoseconds and bytes. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_MESSAGES_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/wait_calls.h"

namespace kymo::analysis {

struct Message {
  model::EventIndex send = 0;
  model::EventIndex receive = 0;
  // The call in which the receiver waited for it: the receive, or the probe
  // that found it.
  model::EventIndex awaited_in = 0;
  size_t from = 0;  // into RankCalls::ranks
  size_t to = 0;
  int64_t bytes = 0;
  DurationNs late_sender_ns = 0;    // the receiver waited
  DurationNs late_receiver_ns = 0;  // the sender waited
  // Until these began: the send and the receive, or their MPI_Wait. kNoEvent:
  // it began a request, and never came to its MPI_Wait.
  model::EventIndex sender_came = 0;
  model::EventIndex receiver_came = 0;
};

// A call or a request that was for a message whose other rank never came.
struct UnansweredCall {
  model::EventIndex event = 0;
  size_t rank = 0;     // into RankCalls::ranks
  size_t awaited = 0;  // likewise: the other one
  bool is_request = false;
  bool receives = false;
  int64_t bytes = 0;  // sent
  // It also receives, and from anybody: it may have waited for that.
  bool is_unsure = false;
  // How long the call waited. 0: it is a request, is unsure, or
  // counts already.
  DurationNs waiting_ns = 0;
};

struct MatchedMessages {
  std::vector<Message> messages;  // by sender, receiver, and order
  // Without a partner: it is not in the trace.
  int64_t sends_alone = 0;
  int64_t receives_alone = 0;
  // Those of ranks that are in the trace, none of which counts above.
  std::vector<UnansweredCall> unanswered;
};

MatchedMessages MatchMessages(const model::Trace& trace,
                              const RankCalls& calls);
// The same for who has the calls that wait.
MatchedMessages MatchMessages(const model::Trace& trace, const RankCalls& calls,
                              const WaitCalls& waits);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_MESSAGES_H_
