import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configTable } from '../../packages/server/src/config/table.ts'
import { variableOf, variables } from '../../packages/server/src/config/variables.ts'
import { PAGE, writeSettings } from '../settings-reference.mjs'

it('docs/reference/service.md matches the table of settings (npm run docs:settings writes it)', () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toBe(writeSettings(page, { configTable, variableOf }))
  for (const name of [...Object.keys(configTable), ...variables.keys()]) {
    expect(page).toContain(`| \`${name}\` |`)
  }
  // Every row has a sentence.
  expect(page).not.toMatch(/^\| `[^|]*` \|.*\|\s*\|$/m)
})
