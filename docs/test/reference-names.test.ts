import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { ROOT, readPage } from '../../test-support/markdown.ts'

/**
 * Lists the names that an entry point exports. Entry points list their names and have no `export
 * *`.
 */
function exportedNames(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return file.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement
      if (!exportClause || !ts.isNamedExports(exportClause)) throw new Error(`${path}: export *`)
      return exportClause.elements.map(({ name }) => name.text)
    }
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false
    if (!isExported) return []
    return ts.isFunctionDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement)
      ? [statement.name?.text ?? 'default']
      : [`${path}:${statement.pos}`]
  })
}

it.each([
  ['database.md', 'database/src/index.ts'],
  ['http.md', 'http/src/index.ts'],
  ['http.md', 'http/src/mount/express.ts'],
  ['http.md', 'http/src/mount/fastify.ts'],
  ['http.md', 'http/src/mount/hono.ts'],
  ['http.md', 'http/src/mount/next.ts'],
  ['http.md', 'http/src/mount/node.ts'],
  ['http.md', 'http/src/outgoing/index.ts'],
  ['testing.md', 'oauth/src/testing/index.ts'],
  ['testing.md', 'database/src/testing/index.ts'],
  ['testing.md', 'billing/src/testing/index.ts'],
  ['service.md', 'server/src/index.ts'],
])('docs/reference/%s names all exports of packages/%s', (page, entry) => {
  const words = new Set(readPage(`docs/reference/${page}`).match(/\w+/g))
  const names = exportedNames(`packages/${entry}`)
  expect(names).not.toEqual([])
  expect(names.filter((name) => !words.has(name))).toEqual([])
})
