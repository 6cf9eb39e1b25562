// clock_sync.h - how far this rank's clock is from rank 0's.
//
// Measured in MPI_Init and again before MPI_Finalize, by messages there and
// back on a communicator of ours (Cristian's method: of many round trips the
// shortest one is believed). Ranks measure in pairs along a binomial tree, so
// N ranks take log2(N) rounds. Each measurement is an instant `MPI clock`:
//
//   mono_ns    CLOCK_MONOTONIC of this rank at the instant's time
//   offset_ns  what must be added to it to get that of rank 0
//   bound_ns   by how much both together can be wrong: half of each round trip
//              on the way to rank 0, and half of the time in which both clocks
//              of this rank were read, added up
//
// The instant's own time and mono_ns tell how the recording's times are related
// to CLOCK_MONOTONIC. Between the two measurements, clocks drift along a line.
//
// Threads: called by the thread that initialises or finalises MPI.
// Errors: a rank that cannot measure records nothing; a merge then says so. No
//   rank waits for ever for another one: see exchange.h. In MPI_Finalize it
//   waits for at most 60 s.
#ifndef KYMO_BACKENDS_MPI_TARGET_CLOCK_SYNC_H_
#define KYMO_BACKENDS_MPI_TARGET_CLOCK_SYNC_H_

namespace kymo::mpi {

// Collective over MPI_COMM_WORLD, whether anybody records at the moment or not.
void StartClocks() noexcept;
void EndClocks() noexcept;

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_CLOCK_SYNC_H_
