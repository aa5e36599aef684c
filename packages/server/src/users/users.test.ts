import { describe, expect, it } from 'vitest'
import { emailKey, InvalidAccount, parseAccount } from './parse.ts'
import { createConcurrencyLimit, createPasswords } from './passwords.ts'

const password = 'long enough'

describe('parseAccount(), which checks a new account,', () => {
  it.each(['ada@example.com', 'ada+tag@sub.example.co', 'ünï@exämple.de', "o'neil@example.com"])(
    'accepts the e-mail address %s',
    (email) => {
      expect(parseAccount({ email: ` ${email} `, password }).email).toBe(email)
    },
  )

  it.each([
    ['no at sign', { email: 'ada' }, 'email'],
    ['two at signs', { email: 'ada@b@example.com' }, 'email'],
    ['no dot', { email: 'ada@localhost' }, 'email'],
    ['a line break', { email: 'ada@example.com\nbcc: x@example.com' }, 'email'],
    ['markup', { email: '<b>@example.com' }, 'email'],
    ['a character that changes the text direction', { email: 'ada\u202e@example.com' }, 'email'],
    ['255 characters', { email: `${'a'.repeat(243)}@example.com` }, 'email'],
    ['a short password', { password: 'seven77' }, 'password'],
    ['a huge password', { password: 'x'.repeat(1025) }, 'password'],
    ['half a surrogate pair', { password: 'long enough \ud800' }, 'password'],
    ['a long name', { name: 'x'.repeat(101) }, 'name'],
    ['a name with a control character', { name: 'a\u0000b' }, 'name'],
  ])('rejects an account with %s', (_, input, field) => {
    const account = { email: 'ada@example.com', password, ...input }
    try {
      parseAccount(account)
      expect.unreachable()
    } catch (error) {
      expect(Object.keys((error as InvalidAccount).problems)).toEqual([field])
    }
  })

  it('limits the number of visible characters, not of bytes', () => {
    expect(() => parseAccount({ email: 'a@example.com', password: '🔑🔑🔑🔑' })).toThrow(
      InvalidAccount,
    )
    expect(parseAccount({ email: 'a@example.com', password: '🔑'.repeat(8) }).name).toBeNull()
  })
})

describe('emailKey(), which identifies an account by its e-mail address,', () => {
  it.each([
    ['letter case', 'Ada@Example.COM', 'ada@example.com', true],
    ['how accents are written', 'ren\u00e9@example.com', 'rene\u0301@example.com', true],
    ['letters that look alike', 'ada@example.com', '\u0430da@example.com', false],
    ['an accent', 'rene@example.com', 'rené@example.com', false],
    ['a tag', 'ada@example.com', 'ada+1@example.com', false],
  ])('returns equal keys only for addresses of the same account: %s', (_, a, b, same) => {
    expect(emailKey(a) === emailKey(b)).toBe(same)
  })
})

describe('the passwords of accounts', () => {
  const passwords = createPasswords()

  it('are hashed with argon2id, and their whole text is compared', async () => {
    const long = `${'a'.repeat(72)}1`
    const hash = await passwords.hash(long)
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await passwords.verify(hash, long)).toBe(true)
    expect(await passwords.verify(hash, `${'a'.repeat(72)}2`)).toBe(false)
    const withNul = await passwords.hash('before\u0000after')
    expect(await passwords.verify(withNul, 'before\u0000other')).toBe(false)
  })

  it('never match if no hash is stored', async () => {
    for (const hash of [null, '']) {
      for (const password of ['', 'nobody has this password']) {
        expect(await passwords.verify(hash, password)).toBe(false)
      }
    }
  })
})

describe('createConcurrencyLimit(), which limits concurrent work,', () => {
  it('runs a limited number of calls, lets a limited number wait, and rejects any others', async () => {
    const pass = createConcurrencyLimit(2, 3)
    let running = 0
    let most = 0
    const finish: Array<() => void> = []
    const work = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => finish.push(resolve))
      running -= 1
      return 'done'
    }
    const outcomes = Array.from({ length: 7 }, () => pass(work).catch((error) => error.name))
    while (most < 2) await new Promise((resolve) => setImmediate(resolve))
    const timer = setInterval(() => finish.shift()?.(), 1)
    const results = await Promise.all(outcomes)
    clearInterval(timer)
    expect(results.filter((result) => result === 'done')).toHaveLength(5)
    expect(results.filter((result) => result === 'TemporarilyUnavailable')).toHaveLength(2)
    expect(most).toBe(2)
  })

  it('frees the place of a call that fails', async () => {
    const pass = createConcurrencyLimit(1, 0)
    await expect(pass(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await pass(async () => 'next')).toBe('next')
  })
})
