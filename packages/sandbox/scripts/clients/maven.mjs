import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { programPath } from './npm.mjs'
import { run } from './processes.mjs'

/** Installs a library and its dependencies into the folder `lib`. */
export async function installFromMaven(folder, [groupId, artifactId, version]) {
  const of = (group, artifact, number) =>
    `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${number}</version>`
  const pom = `<project><modelVersion>4.0.0</modelVersion>${of('shop', 'shop', 1)}<dependencies><dependency>${of(groupId, artifactId, version)}</dependency></dependencies></project>`
  await writeFile(join(folder, 'pom.xml'), pom)
  const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`]
  await run('mvn', ['-q', '-B', ...copy], { cwd: folder })
}

/** Runs a single-file program, which Java compiles at its start. */
export function runJava(folder, program) {
  return ['java', '-cp', join(folder, 'lib', '*'), programPath(program)]
}
