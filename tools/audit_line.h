// The options of `karst audit …`, for main.cc, whose parser lives as long as they do.
#pragma once

#include <functional>
#include <string>

#include "tools/commands.h"

namespace CLI {
class App;
}

namespace karst::tools {

struct AuditLine {
  AuditExportOptions take;
  AuditProofOptions proof;
  AuditVerifyOptions verify;
};

// `chosen` becomes what to do.
void add_audit(CLI::App& app, AuditLine& line, std::function<int()>& chosen);

// --data DIR, and for commands that read --scratch DIR; in main.cc.
void add_data(CLI::App* command, std::string& data);
void add_reading(CLI::App* command, std::string& data);

}  // namespace karst::tools
