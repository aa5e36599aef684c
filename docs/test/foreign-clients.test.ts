import { expect, it } from 'vitest'
// @ts-expect-error A script without types.
import { compareWithTable, ROWS, readTable, renderTable } from '../../scripts/foreign/table.mjs'

it('the table of clients lists what npm run check:foreign runs, in the versions that it installs', () => {
  expect(readTable()).toBe(renderTable())
})

it('a client of the table that did not run is reported, and one that ran without a row', () => {
  const rows = ROWS as readonly { part: string; runs: string[] }[]
  const ran = rows.filter(({ part }) => part === 'node').flatMap(({ runs }) => runs)
  expect(compareWithTable('node', ran)).toEqual([])
  expect(compareWithTable('node', [...ran.slice(1), 'another'])).toEqual([
    `${ran[0]} is in the table and did not run`,
    'another ran and is not in the table',
  ])
})
