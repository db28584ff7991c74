// The last of the precompiled headers of models. Models of a newer Verilator (5.048) delete the garbage of SystemVerilog classes at the
// start of each evaluation, and take a lock for it even if there are no classes: two thirds of the time of a small model.
#ifndef RECONVERGE_DELETER_H_
#define RECONVERGE_DELETER_H_

#include "verilated.h"

// A VlDeleter that does nothing until an object of a class is created. One thread evaluates a model.
class rcv_deleter final {
 public:
  // Each object gets the deleter when it is created.
  operator VlDeleter &() {
    used_ = true;
    return deleter_;
  }
  void deleteAll() {
    if (used_) deleter_.deleteAll();
  }

 private:
  VlDeleter deleter_;
  bool used_ = false;
};

// Each model has one, in its class of symbols, which only its own translation unit sees.
#define VlDeleter rcv_deleter

#endif  // RECONVERGE_DELETER_H_
