import { describe, expect, it } from 'vitest'
import { redactUrl } from './server-url.ts'

describe('redactUrl()', () => {
  it.each([
    'postgres://user:hunter2@host/app',
    'postgres://user:hun:hunter2@host/app',
    'postgres://user:p@hunter2@host/app',
    'postgres://:hunter2@host/app',
    'mysql://user:hunter2/x@host/app',
    'nonsense:user:hunter2@host',
    'postgres://host/app?user=me&password=hunter2',
    'mysql://host/app?PASSWORD=hunter2&x=1',
  ])('hides the password of %s', (url) => {
    expect(redactUrl(url)).not.toContain('hunter2')
    expect(redactUrl(url)).toContain('host')
  })
})
