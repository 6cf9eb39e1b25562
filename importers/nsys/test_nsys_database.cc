#include "importers/nsys/test_nsys_database.h"

namespace kymo::nsys {
namespace {

// The tables of a recent release, with their columns.
std::vector<std::string> Schema() {
  return {
      "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT "
      "NULL)",
      "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)",
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, "
      "utcTime "
      "TEXT, localTime TEXT)",
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName "
      "TEXT, name TEXT, nameEnum INTEGER, value TEXT)",
      "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, "
      "busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory "
      "INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, "
      "uuid TEXT, computeMajor INTEGER, computeMinor INTEGER)",
      "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)",
      "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, "
      "globalTid INTEGER)",
      "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, "
      "name TEXT, label TEXT)",
      "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, "
      "eventType "
      "INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, "
      "text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
      "domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue "
      "REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, "
      "jsonTextId INTEGER, jsonText TEXT, binaryData TEXT)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end "
      "INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
      "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT "
      "NULL, callchainId INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end "
      "INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT "
      "NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId "
      "INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName "
      "INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig "
      "INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, "
      "gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT "
      "NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
      "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT "
      "NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER "
      "NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, "
      "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, "
      "end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER, "
      "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId "
      "INTEGER, graphExecId INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end "
      "INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT "
      "NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
      "INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedS "
      "INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, "
      "srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, "
      "migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end "
      "INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT "
      "NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
      "INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId "
      "INTEGER, memKind INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT "
      "NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId "
      "INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
      "correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, "
      "eventId INTEGER NOT NULL, eventSyncId INTEGER)",
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, "
      "globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId "
      "INTEGER "
      "NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER "
      "NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT "
      "NULL, name TEXT, correlationId INTEGER, streamId INTEGER)"};
}

}  // namespace

std::string Global(int64_t pid, int64_t tid) {
  return std::to_string((int64_t{1} << 56) | pid << 24 | tid);
}

std::vector<std::string> FullDatabase() {
  std::vector<std::string> statements = Schema();
  const std::string a = Global(100, 101);
  const std::string b = Global(200, 201);
  const std::string pid_a = Global(100, 0);
  const std::string pid_b = Global(200, 0);
  for (const std::string& statement : std::vector<std::string>{
           "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, "
           "'cuLaunchKernel'), (3, 'void gemm<float>(float*)'), (4, 'gemm'), "
           "(5, 'registered'), (6, 'worker'), (7, 'cudaMemcpyAsync_v3020'), "
           "(8, 'cudaMalloc_v3020')",
           "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', "
           "'3.16.1')",
           "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES "
           "(1700000000000000000, '', '')",
           "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, '', 'Hostname', 1, "
           "'node-1')",
           "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'H100', '', 1, 1, "
           "85899345920, 1, 1, 132, '', 9, 0)",
           "INSERT INTO PROCESSES VALUES (" + pid_a + ", 100, 'train')",
           "INSERT INTO ThreadNames VALUES (6, 0, " + a + ")",
           "INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (59, 'NvtxPushPopRange', "
           "''), (60, 'NvtxStartEndRange', ''), (34, 'NvtxMark', '')",
           // A domain, one of its categories, nested ranges, a range that ends
           // on another thread, a mark, and a range that stays open.
           "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, "
           "domainId) VALUES (0, NULL, 75, 'my domain', " +
               a + ", 3)",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, category, text, "
           "globalTid, domainId) VALUES (0, NULL, 33, 9, 'io', " +
               a + ", 3)",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, category, text, "
           "globalTid, domainId, uint64Value) VALUES (1000, 9000, 59, 9, "
           "'outer', " +
               a + ", 3, 42)",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, "
           "doubleValue) VALUES (1500, 5000, 59, " +
               a + ", 5, 0.5)",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, "
           "endGlobalTid) VALUES (500, 9500, 60, 'across', " +
               a + ", " + b + ")",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
           "VALUES (1600, NULL, 34, 'mark', " +
               a + ")",
           "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
           "VALUES (9100, NULL, 59, 'open', " +
               a + ")",
           // Both processes use id 7.
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000, 2100, 0, " +
               a + ", 7, 1, 0, NULL), (2010, 2090, 1, " + a +
               ", 8, 2, 0, NULL), (2000, 2200, 0, " + b +
               ", 7, 1, 0, NULL), (3000, 3100, 0, " + a +
               ", 9, 7, 0, NULL), (3200, 3300, 0, " + a + ", 10, 8, 2, NULL)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, "
           "contextId, streamId, correlationId, globalPid, demangledName, "
           "shortName, registersPerThread, gridX, gridY, gridZ, blockX, "
           "blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
           "localMemoryPerThread, localMemoryTotal, gridId, graphNodeId) "
           "VALUES (2500, 2900, 0, 1, 7, 7, " +
               pid_a +
               ", 3, 4, 64, 8, 1, 1, 128, 1, 1, 0, 2048, 0, 0, 1, NULL), "
               "(2600, 2700, 1, 1, 7, 7, " +
               pid_b + ", 3, 4, 64, 8, 1, 1, 128, 1, 1, 0, 2048, 0, 0, 1, 55)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (6000, 6500, 0, "
           "1, 7, 30, " +
               pid_a + ", 12, 13)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, "
           "contextId, streamId, correlationId, globalPid, bytes, copyKind, "
           "srcKind, dstKind) VALUES (3200, 3300, 0, 1, 8, 9, " +
               pid_a + ", 4096, 2, 2, 1)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3400, 3410, 0, 1, "
           "7, 11, " +
               pid_a + ", 0, 64, NULL, 2)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (3000, "
           "3500, 0, 1, NULL, 7, 12, " +
               pid_a + ", 3, 0, NULL)",
           "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (3250, " + pid_a +
               ", 0, 1, 4096, 0, 1000, 2, 0, NULL, 10, NULL), (3260, " + pid_a +
               ", 0, 1, 8192, 0, 500, 2, 0, NULL, 10, NULL), (7000, " + pid_a +
               ", 0, 1, 4096, 0, 1000, 2, 1, NULL, 99, NULL)"}) {
    statements.push_back(statement);
  }
  return statements;
}

}  // namespace kymo::nsys
