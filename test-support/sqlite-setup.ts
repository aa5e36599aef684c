import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    sqliteFolder: string
  }
}

/** A folder for all SQLite files of a project. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(findFastFolder(), 'tollgate-sqlite-'))
  project.provide('sqliteFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}

/** In memory where there is plenty of it: the tests kill our processes, never the machine. */
function findFastFolder(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 2 ** 30 ? memory : tmpdir()
}
