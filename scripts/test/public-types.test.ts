import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findUnnameable } from '../public-types/find-unnameable.mjs'

/** Checks a package of two declarations: a published and an internal one. */
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

it('npm run check:public-types finds a type that a published type uses and that cannot be imported', () => {
  expect(faultsOf(`export { open, Box, type Options } from './inner.js'`, INNER)).toEqual([
    'Options of index.d.ts names Hidden, which nobody can import',
  ])
})

it('npm run check:public-types finds a type in the signature of a function, and in a type that is extended', () => {
  const index = `export { open } from './inner.js'
import type { Hidden } from './inner.js'
export interface Shown extends Hidden {}`
  expect(faultsOf(index, INNER)).toEqual([
    'Shown of index.d.ts names Hidden, which nobody can import',
    'open of index.d.ts names Box, which nobody can import',
    'open of index.d.ts names Options, which nobody can import',
  ])
})

it('npm run check:public-types accepts types that can be imported under any name, type parameters, and private members', () => {
  const index = `export { open, Box, type Options, type Hidden as Seen } from './inner.js'`
  expect(faultsOf(index, INNER)).toEqual([])
  expect(faultsOf(`export { Box } from './inner.js'`, INNER)).toEqual([])
})

const CLASS = `
export interface Hidden { readonly x: string }
export declare class Made { constructor(hidden: Hidden); get(): string }
`

it('npm run check:public-types checks a constructor if the class can be constructed', () => {
  expect(faultsOf(`export { Made } from './inner.js'`, CLASS)).toEqual([
    'Made of index.d.ts names Hidden, which nobody can import',
  ])
  expect(faultsOf(`export type { Made } from './inner.js'`, CLASS)).toEqual([])
  expect(faultsOf(`export { type Made } from './inner.js'`, CLASS)).toEqual([])
})

const CONSTANTS = `
export interface Hidden { readonly x: string }
export interface Known { readonly y: string }
declare const STATUS: { readonly busy: 503 }
declare const Busy_base: abstract new (hidden: Hidden) => Known
export type Code = keyof typeof STATUS
export declare class Busy extends Busy_base {}
`

it('npm run check:public-types checks a constant whose type is used, and a class whose objects a call returns', () => {
  expect(faultsOf(`export { Code, Busy, type Known } from './inner.js'`, CONSTANTS)).toEqual([
    'Busy of index.d.ts names Hidden, which nobody can import',
  ])
})

it('npm run check:public-types checks the value from which a type is derived', () => {
  const inner = `
export interface Hidden { readonly x: string }
declare const table: { name: string; hidden: Hidden }
export type Derived = { [Name in keyof typeof table]?: (typeof table)[Name] }
`
  expect(faultsOf(`export { type Derived } from './inner.js'`, inner)).toEqual([
    'Derived of index.d.ts names Hidden, which nobody can import',
  ])
  expect(faultsOf(`export { type Derived, type Hidden } from './inner.js'`, inner)).toEqual([])
})
