import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))
const ALLOWED = /^(@tollgate\/oauth(\/testing)?|vitest|node:\w+|\.\/[\w-]+\.ts)$/

function foreignImports(text: string): string[] {
  const specifiers = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, name]) => `${name}`,
  )
  return specifiers.filter((name) => !ALLOWED.test(name))
}

it('the files in test/outside import only what the package publishes', () => {
  const files = readdirSync(folder)
  expect(files.length).toBeGreaterThan(5)
  for (const file of files) {
    expect([file, ...foreignImports(readFileSync(folder + file, 'utf8'))]).toEqual([file])
  }
})

it('the import check of test/outside detects an import of something that the package does not publish', () => {
  const quote = "'"
  expect(foreignImports(`import x from ${quote}../../src/context.ts${quote}`)).toHaveLength(1)
  expect(foreignImports(`import x from ${quote}@tollgate/database${quote}`)).toHaveLength(1)
})
