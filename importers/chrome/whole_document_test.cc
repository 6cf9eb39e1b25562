// Whole documents, and everything that the trace of each has.
#include "importers/chrome/import_document.h"

#include <gtest/gtest.h>

#include "importers/chrome/test_document.h"

namespace kymo::chrome_import {
namespace {

TEST(WholeDocumentTest, OfAProgram) {
  EXPECT_EQ(TextOf(R"json({"kymo":"is not this","schemaVersion":1,
"baseTimeNanoseconds":1000000,"traceEvents":[
{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":1,"args":{"name":"app"}},
{"ph":"M","name":"thread_name","pid":7,"tid":8,"ts":1,"args":{"name":"main"}},
{"ph":"X","name":"outer","cat":"cpu_op","pid":7,"tid":8,"ts":10.5,"dur":20,
 "args":{"int":-3,"text":"x","list":[1, 2],"yes":true,"none":null,"half":0.5}},
{"ph":"X","name":"inner","cat":"user_annotation","pid":7,"tid":8,"ts":12,
 "dur":0.001},
{"ph":"i","s":"t","name":"mark","pid":7,"tid":8,"ts":13,"args":{"a":1}},
{"ph":"X","name":"mm","cat":"cpu_op","pid":7,"tid":8,"ts":13.5,"dur":0.25,
 "args":{"External id":3,"Sequence number":4,"Fwd thread id":1,
 "Input Dims":[[2, 3]],"Input type":["float"],
 "Call stack":"a.py(1): f;b.py(2): g","Ev Idx":0}},
{"ph":"B","name":"pair","pid":7,"tid":8,"ts":14,"args":{"begin":1,"both":3}},
{"ph":"E","pid":7,"tid":8,"ts":15,"args":{"end":2,"both":4}},
{"ph":"B","name":"left open","pid":7,"tid":9,"ts":16},
{"ph":"b","cat":"net","id":"0x1","name":"request","pid":7,"tid":8,"ts":17},
{"ph":"e","cat":"net","id":"0x1","name":"request","pid":7,"tid":9,"ts":18},
{"ph":"C","name":"load","pid":7,"tid":8,"ts":19,"args":{"a":1,"b":2.5}},
{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":8,
 "ts":20,"args":{"Total Reserved":9,"Total Allocated":64,"Bytes":64,
 "Addr":4096,"Device Id":-1,"Device Type":0}}
]})json"),
            R"json(window 1010500-1030500
process 7 app
thread 7/8 device -1 'main' logical 0
  0 outer 1010500-1030500 cpu_op int=-3 text='x' list=json [1, 2] yes=json true none=json null half=double 0.5
  1 inner 1012000-1012001 user_annotation in 0 scope 7
  2 mark 1013000-1013000 cpu_instant_event in 0 flags 1 a=1
  3 mm 1013500-1013750 cpu_op in 0 #3 seq 4/1 inputs 24 Call stack='a.py(1): f;b.py(2): g'
  4 pair 1014000-1015000 cpu_op in 0 begin=1 end=2 both=4
thread 7/8 device -1 'main' logical 0
  5 request 1017000-1018000 cpu_op flags 4 cat='net'
thread 7/9 device -1 '' logical 0
  6 left open 1016000-1030500 cpu_op flags 2
counter 0 load a 1019000 1
counter 0 load b 1019000 2.5
memory 0 1020000 64 at 4096 event 0 of 0:-1 total 64/9 source 0 depth 0
metadata kymo="is not this"
metadata kymo_recorded_by="PyTorch"
lost ranges_open_at_end 1
finding begin_without_end 1
)json");
}

TEST(WholeDocumentTest, OfADevice) {
  EXPECT_EQ(TextOf(R"json({"schemaVersion":1,"record_shapes":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,
 "ts":100,"dur":5,"args":{"External id":9,"cbid":211,"correlation":77}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":77,"pid":7,"tid":8,"ts":100},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":13,"ts":110,"dur":8,
 "args":{"device":0,"stream":13,"context":1,"correlation":77,
 "External id":9,"grid":[8, 1, 1]}},
{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":77,"pid":0,"tid":13,
 "ts":110},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,
 "tid":14,"ts":112,"dur":2,"args":{"device":0,"stream":14,"correlation":78,
 "bytes":4096}},
{"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":13,"ts":110,
 "dur":9,"args":{}},
{"ph":"X","cat":"python_function","name":"a.py(1): f","pid":7,"tid":8,"ts":90,
 "dur":40,"args":{"Python id":1,"Python parent id":null,"Ev Idx":3}},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans",
 "tid":"PyTorch Profiler","ts":80,"dur":100,"args":{"Op count":1}},
{"ph":"M","name":"process_name","pid":0,"tid":0,"ts":80,
 "args":{"name":"python"}},
{"ph":"M","name":"process_labels","pid":0,"tid":0,"ts":80,
 "args":{"labels":"GPU 0"}}
]})json"),
            R"json(window 80000-180000
process 7 
thread 7/8 device -1 '' logical 0
  0 a.py(1): f 90000-130000 python_function Python id=1 Python parent id=json null
  1 cudaLaunchKernel 100000-105000 cuda_runtime in 0 #77 External id=9 cbid=211
stream 7/13 device 0 '' logical 0
  2 step 110000-119000 gpu_user_annotation
  3 gemm 110000-118000 kernel in 2 #77 context=1 External id=9 grid=json [8, 1, 1]
stream 7/14 device 0 '' logical 0
  4 Memcpy HtoD (Pinned -> Device) 112000-114000 gpu_memcpy #78 bytes=4096
metadata kymo_recorded_by="PyTorch"
metadata record_shapes=1
finding out_of_order 1
)json");
}

// An argument that has no place in a trace, or not with this value, stays one.
TEST(WholeDocumentTest, OfOddArguments) {
  EXPECT_EQ(TextOf(R"json({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"odd","pid":7,"tid":8,"ts":1,"dur":1,"args":{
 "External id":0,"correlation":5,"Sequence number":-1,"Fwd thread id":-2,
 "device":1,"stream":2,"finished":true,"kymo_folded":0,"Record function id":1,
 "Python module id":4,"Call stack":7,"Input Dims":"x"}},
{"ph":"X","cat":"cuda_runtime","name":"call","pid":7,"tid":8,"ts":3,"dur":1,
 "args":{"External id":3,"correlation":6,"device":0,"Record function id":0}},
{"ph":"X","cat":"cpu_op","name":"numbers","pid":7,"tid":8,"ts":5,"dur":1,
 "args":{"big":12345678901234567890,"exp":1e3,"neg":-5,"half":0.25,
 "text":"a\"b","Record function id":0,"Sequence number":0}},
{"ph":"X","cat":"python_function","name":"module","pid":7,"tid":8,"ts":7,
 "dur":1,"args":{"Python module id":3,"External id":-1}},
{"ph":"X","cat":"cpu_op","name":"open","pid":7,"tid":8,"ts":9,"dur":1,
 "args":{"finished":false}}
]})json"),
            R"json(window 1000-10000
process 7 
thread 7/8 device -1 '' logical 0
  0 odd 1000-2000 cpu_op External id=0 correlation=5 Sequence number=-1 Fwd thread id=-2 device=1 stream=2 finished=json true kymo_folded=0 Record function id=1 Python module id=4 Call stack=7 Input Dims='x'
  1 call 3000-4000 cuda_runtime #6 External id=3 device=0 Record function id=0
  2 numbers 5000-6000 cpu_op seq 0/0 big=json 12345678901234567890 exp=double 1000 neg=-5 half=double 0.25 text='a"b'
  3 module 7000-8000 python_function flags 8 Python module id=3 External id=-1
  4 open 9000-10000 cpu_op flags 2
lost ranges_open_at_end 1
)json");
}

// Flows tell which forward threads 3 and 5 are, and the base of times counts
// for flows, too. The other thread gets the lowest number that is left.
TEST(WholeDocumentTest, OfForwardAndBackward) {
  EXPECT_EQ(TextOf(R"json({"baseTimeNanoseconds":1000000,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"mm","pid":7,"tid":8,"ts":10,"dur":1,
 "args":{"Sequence number":4,"Fwd thread id":0}},
{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":7,"tid":8,"ts":10},
{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":7,"tid":9,"ts":20,"dur":1,
 "args":{"Sequence number":4,"Fwd thread id":3}},
{"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":7,"tid":9,
 "ts":20},
{"ph":"X","cat":"cpu_op","name":"add","pid":7,"tid":10,"ts":12,"dur":1,
 "args":{"Sequence number":5,"Fwd thread id":0}},
{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":2,"pid":7,"tid":10,"ts":12},
{"ph":"X","cat":"cpu_op","name":"AddBackward0","pid":7,"tid":9,"ts":22,
 "dur":1,"args":{"Sequence number":5,"Fwd thread id":5}},
{"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":2,"pid":7,"tid":9,
 "ts":22}
]})json"),
            R"json(window 1010000-1023000
process 7 
thread 7/8 device -1 '' logical 3
  0 mm 1010000-1011000 cpu_op seq 4/0
thread 7/9 device -1 '' logical 1
  1 MmBackward0 1020000-1021000 cpu_op seq 4/3
  2 AddBackward0 1022000-1023000 cpu_op seq 5/5
thread 7/10 device -1 '' logical 5
  3 add 1012000-1013000 cpu_op seq 5/0
)json");
}

}  // namespace
}  // namespace kymo::chrome_import
