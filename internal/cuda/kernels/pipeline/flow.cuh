// The way of updates through the three roles of engine pipeline's kernel, and the memory that the roles share.
//
//   host → updates, tasks (mapped) → updater → slots, queue → executors → slots' left → collector → done → updater, host
//
// Update number k of a load is in updates[k % host_updates] and then in slots[k % window]. It has tasks: searches that the
// host chose for it. They have numbers too, 0 … of the load, and are in tasks[i % host_tasks] and then in queue[i % queue_size].
//
// Each step waits for the next one's room, so all rings are bounded:
//   - the host writes update k when taken > k - host_updates, and its tasks when the updates with the tasks before were taken;
//   - the updater makes update k when reclaimed > k - window, its tasks have room in the queue, and the pool has memory;
//   - executors take tasks in their order, one a warp. A long search is shared by warps that wait for tasks: see share.cuh;
//   - the collector passes update k when no task of updates up to k is left.
//
// Go's pipeline.control, flow, update, task and slot have the same layouts.
#ifndef WEFT_PIPELINE_FLOW
#define WEFT_PIPELINE_FLOW
#include "pipeline/pool.cuh"

#define POLL_NS 100000ull // between two looks of the updater at Control while it is busy

// Steps of the updater, whose times it keeps.
#define STEP_GATHER 0u // also waits for updates
#define STEP_FETCH 1u
#define STEP_SORT 2u
#define STEP_ROOM 3u // also waits for memory
#define STEP_REMOVE 4u
#define STEP_COPY 5u
#define STEP_PUBLISH 6u
#define STEPS 8u

// Codes of faults.
#define FAULT_FULL 1u  // the pool has no room for update fault_at, with nothing left to free
#define FAULT_LIST 2u  // update fault_at removes an edge that the graph does not have

struct Update {
  u32 u, v;  // u is NONE: the update changes nothing, and only has tasks
  u32 what;  // label << 1, and 1 if it removes the edge
  u32 tasks; // of the load up to and with its own, modulo 2^32
};

struct Task {
  u32 update; // its number, modulo 2^32
  u32 what;   // for the executor, as the next two words
  u32 first[2];
};

struct Share;
struct Parts;

// An update under way.
struct Slot {
  Update x;
  u32 left; // tasks that are not done
  u32 pad;
  Row* row[2];  // versions that end with this update, of the list of u and that of v; null: none
  u64 array[2]; // their arrays
};

// Lies in mapped host memory.
struct Control {
  // Written by the host.
  u32 stop;   // not 0: leave as soon as it is seen
  u32 closed; // not 0: leave when all that is posted is done
  u64 posted; // updates
  u64 urgent; // updates that are not to wait for a batch to fill
  u64 drained; // rows of the output
  u64 pad0[4];
  // Written by the device.
  u32 fault;
  u32 ended; // not 0: the updater has left
  u64 fault_at;
  u64 taken; // updates that the updater has copied, with their tasks
  u64 done;  // updates of which all tasks are done, and all before them
  u64 beat;  // changes while executors get on
  u64 busy;  // nanoseconds of warps that search
  u64 shared; // parts of searches that were given away
  u64 used;   // units of the pool
  u64 steps[STEPS]; // nanoseconds of the updater in each step
  u64 most;   // units of the pool, at most so far
};

// Lies in device memory, a line for each that is written often.
struct Flow {
  u64 applied, pad0[15]; // updates that are in the store
  u64 ready, pad1[15];   // tasks in the queue
  u64 next, pad2[15];    // tickets for tasks
  u64 done, pad3[15];    // as in Control
  u64 beat, busy, pad4[14];
  u64 reserved, drained, pad5[14]; // rows of the output
  u64 given, taken; // parts of searches that were put into the ring of them, and taken from it
  u32 hungry, pad8; // warps that wait for tasks and would take a part
  u64 pad9[13];
  u32 stop, fault, ended, pad6;
  u64 reclaimed;     // updates whose versions are back in the pool
  u64 reclaimed_end; // tasks of these
  u64 ended_at;      // the number of updates, once ended
  u64 batches;       // of the updater
  u64 waits;         // times that the updater waited for room: in rings or in the pool
  u64 copied;        // entries
  u64 pad7[8];
};

struct Pipe {
  Control* control;
  Flow* flow;
  Pool* pool;
  Store store;
  const Update* updates; // mapped
  const Task* tasks;     // mapped
  Slot* slots;
  Task* queue;
  u8* work;           // the updater's room, where shared memory is too small; null: shared memory
  Share* shares;      // parts of searches that wait for a warp
  Parts* parts;       // of task i at i % queue_size
  u32 host_updates, host_tasks, window, queue_size; // powers of 2
  u32 shares_size;    // a power of 2
  u32 share;          // chunks of candidates after which a search may give a part away; 0: it never does
  u32 batch;          // updates of a batch, at most
  u32 wait_ns;        // how long the updater waits for a batch to fill
  u32 directed;
  u32 pad;
};

// Ends the kernel with an error. One lane.
DEV void fail(const Pipe& p, u32 code, u64 about) {
  if (atomic_cas(&p.flow->fault, 0u, code) == 0) {
    store_relaxed_system(&p.control->fault_at, about);
    fence_system();
    store_relaxed_system(&p.control->fault, code);
  }
  store_relaxed(&p.flow->stop, 1u);
}

// Whether to leave. One lane; the updater's first lane carries the flag here from the host.
DEV bool stopped(const Pipe& p) { return load_relaxed(&p.flow->stop) != 0; }

// The same for a whole warp.
DEV bool warp_stopped(const Pipe& p) {
  u32 s = 0;
  if (lane() == 0) s = stopped(p);
  return shfl(ALL, s, 0) != 0;
}

DEV u32 time_of(u64 update) { return (u32)update + 1; }

#endif
