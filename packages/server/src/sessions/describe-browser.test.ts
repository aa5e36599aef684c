import { expect, it } from 'vitest'
import { describeBrowser } from './describe-browser.ts'

const APPLE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

it.each([
  ['Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${APPLE} Chrome/140.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0) ${APPLE} Chrome/140.0 Safari/537 Edg/140.0`, 'Edge on Windows'],
  [`Mozilla/5.0 (Macintosh; Mac OS X 15) ${APPLE} Version/18.1 Safari/605`, 'Safari on macOS'],
  [`Mozilla/5.0 (iPhone; like Mac OS X) ${APPLE} Version/18.1 Safari/605`, 'Safari on iPhone'],
  ['curl/8.5.0', null],
  ['', null],
  [undefined, null],
])('the User-Agent %s is described as "%s"', (userAgent, expected) => {
  expect(describeBrowser(userAgent)).toBe(expected)
})
