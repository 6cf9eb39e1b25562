// rank_meeting.h - whether every rank of the job is recorded.
//
// Kymo may send messages of its own only if each rank takes part: a rank that
// does not would leave the others waiting, or get a message that it does not
// expect. So the ranks agree first, by files in the job's folder, which
// record::kMpiMeetingVariable names. The command of each rank makes `rank-N`
// there before its program begins. Rank 0 then looks whether all are there, and
// makes the file `answer`, which says `all` or `some`. It can be made only once
// (link(2) is atomic, on NFS as well), so all ranks read the same answer. Other
// ranks wait for it for 15 s, and then make it themselves: `some`. If the
// variable is not set, nobody meets.
#ifndef KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_
#define KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_

namespace kymo::mpi {

// May wait for 15 s, if files are late. False: no message may be sent.
bool AllRanksMeet(int rank, int size) noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_RANK_MEETING_H_
