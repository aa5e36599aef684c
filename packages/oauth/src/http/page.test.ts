import { expect, it } from 'vitest'
import { InvalidRequest } from '../errors.ts'
import { encodeCursor, readPagination } from './page.ts'

const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

it.each([
  '',
  'limit=1',
  'limit=1000',
  'other=1',
  `after=${encodeCursor({ by: 5, id: 'a' })}`,
  `limit=2&after=${encodeCursor({ by: 'é', id: 'a' })}`,
])('readPagination() accepts the query "%s"', (query) => {
  expect(() => readPagination(query)).not.toThrow()
})

it.each([
  'limit=',
  'limit=0',
  'limit=-1',
  'limit=1001',
  'limit=1e2',
  'limit=٣',
  'limit=1&limit=2',
  'after=',
  'after=x',
  'after=%00',
  `after=${'a'.repeat(3000)}`,
  `after=${cursor({ by: 1, id: 'a' })}`,
  `after=${cursor([1])}`,
  `after=${cursor([1, 2])}`,
  `after=${cursor([null, 'a'])}`,
  `after=${cursor(['a', 'b', 'c'])}`,
  'after=AA&after=AA',
])('readPagination() rejects the query "%s"', (query) => {
  expect(() => readPagination(query)).toThrow(InvalidRequest)
})
