! A rank of the job that ranks_test.py records: rank 1 sends 4 messages to
! rank 0, and then all meet.
program fortran_program
  use mpi_f08
  implicit none
  integer :: rank, size, step, number, sum, numbers(2)
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, size)
  numbers = rank
  do step = 1, 4
    if (rank == 0 .and. step < 3) then
      call MPI_Recv(numbers, 2, MPI_INTEGER, MPI_ANY_SOURCE, step, comm, &
                    MPI_STATUS_IGNORE)
    else if (rank == 0) then
      call MPI_Irecv(numbers, 2, MPI_INTEGER, 1, step, comm, request)
      call MPI_Wait(request, status)
      if (status%MPI_SOURCE /= 1) error stop 'wrong source'
    else if (rank == 1) then
      call MPI_Send(numbers, 2, MPI_INTEGER, 0, step, comm)
    end if
    number = rank
    call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_SUM, comm)
    sum = size * (size - 1) / 2
    if (number /= sum) error stop 'wrong sum'
  end do
  if (rank == 0 .and. any(numbers /= 1)) error stop 'wrong message'
  call MPI_Barrier(comm)
  call MPI_Finalize()
end program
