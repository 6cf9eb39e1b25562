// rank_meeting.h - whether every rank of the job is recorded.
//
// Kymo may send messages of its own only if each rank takes part: a rank that
// does not would leave the others waiting, or get a message that it does not
// expect. So the ranks agree first, by files in the job's folder, which
// record::kMpiMeetingVariable names:
//
//   token          made by the command of rank 0: tells this run of the job
//                  from an earlier one that used the folder
//   in2-N.TOKEN    rank N is in MPI_Init with this library. Nothing else
//                  proves it: a program may not have loaded what its command
//                  preloads.
//   answer.TOKEN   `all` or `some`: rank 0 has looked whether all are there
//
// The answer can be made only once (link(2) is atomic, on NFS as well), so all
// ranks read the same one. Other ranks wait for it for 15 s, and then make it
// themselves: `some`. If the variable is not set, nobody meets.
#ifndef KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_
#define KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_

namespace kymo::mpi {

// May wait for 16 s, if a rank is not there. False: no message may be sent.
bool AllRanksMeet(int rank, int size) noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_
