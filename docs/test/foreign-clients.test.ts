import { expect, it } from 'vitest'
// @ts-expect-error A script without types.
import { compareWithTable, ROWS, readTable, renderTable } from '../../scripts/foreign/table.mjs'

it('docs/reference/clients.md lists the clients that npm run check:foreign runs, in the installed versions', () => {
  expect(readTable()).toBe(renderTable())
})

it('npm run check:foreign reports a listed client that did not run, and a client that ran but is not listed', () => {
  const rows = ROWS as readonly { part: string; runs: string[] }[]
  const ran = rows.filter(({ part }) => part === 'node').flatMap(({ runs }) => runs)
  expect(compareWithTable('node', ran)).toEqual([])
  expect(compareWithTable('node', [...ran.slice(1), 'another'])).toEqual([
    `${ran[0]} is in the table and did not run`,
    'another ran and is not in the table',
  ])
})
