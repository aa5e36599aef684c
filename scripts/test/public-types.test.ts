import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findUnnameable } from '../public-types/find-unnameable.mjs'

/** A package of two declarations: what it publishes, and what it keeps to itself. */
function faultsOf(index: string, inner: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'public-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'index.d.ts'), index)
  writeFileSync(join(folder, 'inner.d.ts'), inner)
  const faults: string[] = findUnnameable([{ folder, entries: [join(folder, 'index.d.ts')] }])
  return faults.map((fault) => fault.replaceAll(`${folder}/`, ''))
}

const INNER = `
export interface Hidden { readonly x: string }
export interface Options { readonly hidden: Hidden; readonly when: Date }
export declare class Box<T> { private secret: Hidden; get(): T }
export declare function open(options: Options): Promise<Box<string>>
`

it('finds a type that a published one names and nobody can import', () => {
  expect(faultsOf(`export { open, Box, type Options } from './inner.js'`, INNER)).toEqual([
    'Options of index.d.ts names Hidden, which nobody can import',
  ])
})

it('finds one in the signature of a function, and in what a type extends', () => {
  const index = `export { open } from './inner.js'
import type { Hidden } from './inner.js'
export interface Shown extends Hidden {}`
  expect(faultsOf(index, INNER)).toEqual([
    'Shown of index.d.ts names Hidden, which nobody can import',
    'open of index.d.ts names Box, which nobody can import',
    'open of index.d.ts names Options, which nobody can import',
  ])
})

it('lets pass what can be imported by any name, type parameters, and what is private', () => {
  const index = `export { open, Box, type Options, type Hidden as Seen } from './inner.js'`
  expect(faultsOf(index, INNER)).toEqual([])
  expect(faultsOf(`export { Box } from './inner.js'`, INNER)).toEqual([])
})

const CLASS = `
export interface Hidden { readonly x: string }
export declare class Made { constructor(hidden: Hidden); get(): string }
`

it('looks at a constructor where the class can be constructed', () => {
  expect(faultsOf(`export { Made } from './inner.js'`, CLASS)).toEqual([
    'Made of index.d.ts names Hidden, which nobody can import',
  ])
  expect(faultsOf(`export type { Made } from './inner.js'`, CLASS)).toEqual([])
  expect(faultsOf(`export { type Made } from './inner.js'`, CLASS)).toEqual([])
})
