# Generates the C++ readers and writers of schemas/*.fbs, and embeds the schema text for the readable export.
# Generated code is never committed: it carries an assertion on the exact FlatBuffers version.
find_program(FLATC flatc REQUIRED)
file(GLOB KARST_SCHEMAS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schemas/*.fbs)
set(generated_dir ${CMAKE_BINARY_DIR}/generated)
set(generated_headers)
foreach(schema ${KARST_SCHEMAS})
  get_filename_component(name ${schema} NAME_WE)
  set(header ${generated_dir}/schemas/${name}_generated.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums --gen-object-api --reflect-names
            -I ${CMAKE_SOURCE_DIR}/schemas -o ${generated_dir}/schemas ${schema}
    DEPENDS ${KARST_SCHEMAS}
    COMMENT "flatc ${name}.fbs")
  list(APPEND generated_headers ${header})
endforeach()
set(schema_text ${generated_dir}/schemas/schema_text.inc)
add_custom_command(
  OUTPUT ${schema_text}
  COMMAND ${CMAKE_COMMAND} -DOUT=${schema_text} "-DSCHEMAS=${KARST_SCHEMAS}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_schemas.cmake
  DEPENDS ${KARST_SCHEMAS} ${CMAKE_SOURCE_DIR}/cmake/embed_schemas.cmake
  COMMENT "embedding schema text" VERBATIM)
add_custom_target(karst_schemas_generate DEPENDS ${generated_headers} ${schema_text})
add_library(karst_schemas INTERFACE)
target_include_directories(karst_schemas SYSTEM INTERFACE ${generated_dir})
add_dependencies(karst_schemas karst_schemas_generate)
