import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { findFastFolder } from './fast-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    sqliteFolder: string
  }
}

/** Creates a folder for all SQLite files of a project. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(findFastFolder(), 'tollgate-sqlite-'))
  project.provide('sqliteFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
