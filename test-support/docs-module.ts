import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { codeBlocks, ROOT, readPage } from './markdown.ts'

/**
 * Imports a code block of the documentation as a module. `containing` is a text that
 * only this block contains.
 */
export async function importFromDocs<Module>(page: string, containing: string): Promise<Module> {
  const found = codeBlocks(readPage(page)).filter(({ code }) => code.includes(containing))
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with ${containing}`)
  const file = `${ROOT}test-support/from-docs-${randomBytes(6).toString('hex')}.tmp.ts`
  writeFileSync(file, found[0]?.code ?? '')
  try {
    return (await import(file)) as Module
  } finally {
    rmSync(file)
  }
}
