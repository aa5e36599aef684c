import { expect, it } from 'vitest'
import { wantsHtml } from './request.ts'

it.each([
  [true, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  [true, 'Text/HTML; charset=utf-8'],
  [true, 'text/html, application/json'],
  [true, 'application/json;q=0.5, text/html;q=0.9'],
  [false, 'application/json, text/html'],
  [false, 'application/json, text/html;q=0.1'],
  [false, 'text/html;q=0'],
  [false, 'text/html;q=none'],
  [false, 'application/json, text/plain, */*'],
  [false, '*/*'],
  [false, null],
])('wantsHtml() returns %s for the Accept header %s', (isBrowser, accept) => {
  expect(wantsHtml({ header: () => accept })).toBe(isBrowser)
})
