import { expect, it } from 'vitest'
import { PathRouter } from './router.ts'

const router = new PathRouter<string>()
router.add('GET', '/methods/:kind/:token', 'find')
router.add('PUT', '/methods/:kind/:token', 'update')
router.add('GET', '/methods/nonce/:nonce', 'find by nonce')
router.add('POST', '/methods', 'create')

it('the router prefers a fixed path segment, and falls back to a :name segment when the fixed one leads to no route', () => {
  expect(router.find('GET', '/methods/nonce/n1')).toEqual({
    target: 'find by nonce',
    params: { nonce: 'n1' },
  })
  expect(router.find('PUT', '/methods/nonce/n1')).toEqual({
    target: 'update',
    params: { kind: 'nonce', token: 'n1' },
  })
  expect(router.find('GET', '/methods/card/t%201')?.params).toEqual({
    kind: 'card',
    token: 't%201',
  })
})

it('the router finds no route for another method, a longer or shorter path, or an empty segment', () => {
  expect(router.find('POST', '/methods')?.target).toBe('create')
  expect(router.find('GET', '/methods')).toBeNull()
  expect(router.find('POST', '/methods/')).toBeNull()
  expect(router.find('GET', '/methods//t1')).toBeNull()
  expect(router.find('GET', '/methods/card/t1/more')).toBeNull()
  expect(router.find('GET', '/constructor')).toBeNull()
})
