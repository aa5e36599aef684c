import { describe, expect, it } from 'vitest'
import { isDeliverySecret, parseDeliverySecret, signDelivery } from './signature.ts'

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

describe('the signing secret of a webhook endpoint', () => {
  it.each([
    ['accepted with 24 bytes', secretOf(24), true],
    ['accepted with 64 bytes', secretOf(64), true],
    ['accepted without base64 padding', secretOf(32).replace('=', ''), true],
    ['rejected with 23 bytes', secretOf(23), false],
    ['rejected with 65 bytes', secretOf(65), false],
    ['rejected if it is empty', '', false],
    ['rejected without the prefix whsec_', secretOf(32).slice('whsec_'.length), false],
    ['rejected with another prefix', secretOf(32).replace('whsec_', 'sk_tst'), false],
    ['rejected with a character outside base64', `${secretOf(33)}!`, false],
    ['rejected if its end is cut off', secretOf(33).slice(0, -3), false],
  ])('is accepted only in the format of Standard Webhooks: it is %s', (_name, secret, isGood) => {
    expect(isDeliverySecret(secret)).toBe(isGood)
    if (isGood) expect(parseDeliverySecret('secret', secret)).toBeInstanceOf(Buffer)
    else
      expect(() => parseDeliverySecret('secret', secret)).toThrow(
        /^secret: expected whsec_ followed by 24 to 64/,
      )
  })
})

describe('the signature of an outgoing webhook', () => {
  it('equals the example in the Standard Webhooks specification, and contains one signature per secret', () => {
    const key = parseDeliverySecret('secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const delivery = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
    const example = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    expect(signDelivery([key, key], delivery, new Date(1_614_265_330_999))).toEqual({
      'webhook-id': delivery.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': `${example} ${example}`,
    })
  })
})
