# Writes {"name.fbs", R"FBS(text)FBS"}, lines for every schema: events/json_text.cc includes them.
set(text "")
foreach(schema ${SCHEMAS})
  file(READ ${schema} body)
  get_filename_component(name ${schema} NAME)
  string(APPEND text "{\"${name}\", R\"FBS(${body})FBS\"},\n")
endforeach()
file(WRITE ${OUT} "${text}")
