// work.cu - a CUDA program that says what it did, for the tests of the `cuda`
// activity.
//
//   work MODE
//
// prints one line of JSON: how many kernels it launched, how many bytes it
// copied in which way, what CUDA events measured. Exit 77: there is no device.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}
#define CHECK(call) Check((call), #call)

__global__ void Empty() {}

// Takes about `cycles` of the device's clock.
__global__ void Spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void Add(float* values, float increment, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += increment;
}

constexpr int kTile = 16;

// c = a * b, n x n, n a multiple of kTile: 2 n^3 FLOPs.
__global__ void MatMul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

void Streams() {
  std::vector<cudaStream_t> streams(4);
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 200; ++i) Spin<<<1, 32, 0, streams[i % 4]>>>(20'000);
  CHECK(cudaDeviceSynchronize());
  printf("{\"kernels\": {\"Spin\": 200}, \"streams\": 4}\n");
}

__device__ char symbol[4096];

// Every number of bytes is another one, so that none stands for another.
void Copies() {
  constexpr size_t kBytes = 1'234'567;
  constexpr size_t kPitch = 512, kWidth = 300, kHeight = 40;
  std::vector<char> pageable(kBytes);
  char *pinned, *first, *second;
  CHECK(cudaMallocHost(&pinned, kBytes));
  CHECK(cudaMalloc(&first, kBytes));
  CHECK(cudaMalloc(&second, kBytes));
  CHECK(cudaMemcpy(first, pageable.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(first, pinned, kBytes - 1, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(second, first, kBytes - 2, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(pinned, second, kBytes - 3, cudaMemcpyDeviceToHost));
  CHECK(
      cudaMemcpy(pageable.data(), second, kBytes - 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(first, 7, kBytes - 5));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(first, pinned, kBytes - 6, cudaMemcpyHostToDevice,
                        stream));
  CHECK(cudaMemcpyAsync(pinned, first, kBytes - 7, cudaMemcpyDeviceToHost,
                        stream));
  CHECK(cudaMemcpy2DAsync(second, kPitch, first, kPitch, kWidth, kHeight,
                          cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemcpyToSymbolAsync(symbol, pinned, sizeof(symbol), 0,
                                cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemsetAsync(first, 1, kBytes - 8, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaDeviceSynchronize());
  printf(
      "{\"bytes\": {\"Memcpy HtoD (Pageable -> \": %zu, "
      "\"Memcpy HtoD (Pinned -> \": %zu, \"Memcpy DtoD (Device -> \": %zu, "
      "\"Memcpy DtoH (Device -> Pinned)\": %zu, "
      "\"Memcpy DtoH (Device -> Pageable)\": %zu, \"Memset (\": %zu}, "
      "\"stream_waits\": 1}\n",
      kBytes, kBytes - 1 + kBytes - 6 + sizeof(symbol),
      kBytes - 2 + kWidth * kHeight, kBytes - 3 + kBytes - 7, kBytes - 4,
      kBytes - 5 + kBytes - 8);
}

void Graph() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 5; ++i) Spin<<<1, 32, 0, stream>>>(10'000);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 10; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaDeviceSynchronize());
  printf("{\"kernels\": {\"Spin\": 50}, \"graph_launches\": 10}\n");
}

void Threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      cudaStream_t stream;
      CHECK(cudaStreamCreate(&stream));
      for (int i = 0; i < 1000; ++i) Empty<<<1, 1, 0, stream>>>();
      CHECK(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  printf("{\"kernels\": {\"Empty\": 4000}, \"threads\": 4}\n");
}

void Unified() {
  constexpr int kCount = 1 << 22;
  float* values;
  CHECK(cudaMallocManaged(&values, kCount * sizeof(float)));
  for (int i = 0; i < kCount; ++i) values[i] = 1;
  Add<<<(kCount + 255) / 256, 256>>>(values, 1, kCount);
  CHECK(cudaDeviceSynchronize());
  if (values[kCount - 1] != 2) exit(1);
  printf("{\"kernels\": {\"Add\": 1}, \"touched_bytes\": %zu}\n",
         kCount * sizeof(float));
}

// A kernel's length by CUDA's own events: it alone stands between them.
void Events() {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  Spin<<<1, 1>>>(1000);  // loads the code
  CHECK(cudaDeviceSynchronize());
  printf("{\"kernels\": {\"Spin\": 6}, \"spin_us\": [");
  for (int i = 0; i < 5; ++i) {
    CHECK(cudaEventRecord(begin));
    Spin<<<1, 1>>>(1'000'000LL << i);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("%s%.3f", i == 0 ? "" : ", ", ms * 1000);
  }
  printf("]}\n");
}

void Product() {
  constexpr int kSize = 1024;
  constexpr size_t kBytes = sizeof(float) * kSize * kSize;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, kBytes));
  CHECK(cudaMalloc(&b, kBytes));
  CHECK(cudaMalloc(&c, kBytes));
  const dim3 block(kTile, kTile);
  const dim3 grid(kSize / kTile, kSize / kTile);
  for (int i = 0; i < 10; ++i) MatMul<<<grid, block>>>(a, b, c, kSize);
  CHECK(cudaDeviceSynchronize());
  printf(
      "{\"kernels\": {\"MatMul\": 10}, \"grid\": [64, 64, 1], "
      "\"block\": [16, 16, 1], \"flops\": %lld}\n",
      2LL * kSize * kSize * kSize);
}

void Small() {
  Empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100'000; ++i) Empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  printf("{\"kernels\": {\"Empty\": 100001}, \"seconds\": %.6f}\n",
         taken.count());
}

void Memory() {
  void* blocks[4];
  for (int i = 0; i < 4; ++i) CHECK(cudaMalloc(&blocks[i], (i + 1) << 20));
  for (int i = 0; i < 3; ++i) CHECK(cudaFree(blocks[i]));
  printf("{\"allocated_bytes\": %d, \"left_bytes\": %d}\n", 10 << 20, 4 << 20);
}

// Memory of a pool, in the order of a stream.
void Pool() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  void* blocks[3];
  for (void*& block : blocks) {
    CHECK(cudaMallocAsync(&block, 2 << 20, stream));
  }
  CHECK(cudaMemsetAsync(blocks[0], 0, 2 << 20, stream));
  for (void* block : blocks) CHECK(cudaFreeAsync(block, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("{\"allocated_bytes\": %d}\n", 6 << 20);
}

// CUDA is there before NVTX is asked: one version of CUPTI wants it so.
void Markers() {
  CHECK(cudaFree(nullptr));
  nvtxRangePushA("step");
  Spin<<<1, 32>>>(100'000);
  CHECK(cudaDeviceSynchronize());
  nvtxMarkA("mark");
  nvtxRangePop();
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  std::thread([id] { nvtxRangeEnd(id); }).join();
  printf("{\"kernels\": {\"Spin\": 1}}\n");
}

// Killed while it launches: at least so many had been launched.
void Busy() {
  static std::atomic<long long> launched{0};
  std::thread([] {
    sleep(2);
    printf("{\"launched\": %lld}\n", launched.load());
    fflush(stdout);
    raise(SIGKILL);
  }).detach();
  for (;; ++launched) {
    Spin<<<1, 32>>>(20'000);
    if (launched % 1000 == 999) CHECK(cudaDeviceSynchronize());
  }
}

// Killed by itself, after what it launched had time to be saved.
void Killed() {
  for (int i = 0; i < 100; ++i) Empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  sleep(1);
  printf("{\"kernels\": {\"Empty\": 100}}\n");
  fflush(stdout);
  raise(SIGKILL);
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {
    {"streams", Streams}, {"copies", Copies},   {"graph", Graph},
    {"threads", Threads}, {"unified", Unified}, {"events", Events},
    {"matmul", Product},  {"small", Small},     {"memory", Memory},
    {"killed", Killed},   {"pool", Pool},       {"markers", Markers},
    {"busy", Busy},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& mode : kModes) {
    if (argc != 2 || strcmp(argv[1], mode.name) != 0) continue;
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
      // Too old a driver for this toolkit is among the reasons.
      fprintf(stderr, "no CUDA device: %s\n", cudaGetErrorString(error));
      return 77;
    }
    mode.run();
    return 0;
  }
  fprintf(stderr, "usage: work MODE; it is one of:");
  for (const Mode& mode : kModes) fprintf(stderr, " %s", mode.name);
  fprintf(stderr, "\n");
  return 2;
}
