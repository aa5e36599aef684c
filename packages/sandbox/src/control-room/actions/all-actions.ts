import type { Action } from './action.ts'
import {
  clearTrouble,
  declineCharge,
  failCalls,
  releaseHeld,
  setDeliveries,
} from './make-trouble.ts'
import { advance, advanceTo } from './move-clock.ts'
import { redeliver, triggerEvent } from './send-webhooks.ts'
import { changeDunning } from './set-dunning.ts'

const save: Action = async (_form, controls) => {
  await controls.save()
  return { said: 'The state file is written, if there is one.', data: {} }
}

const reset: Action = async (_form, controls) => {
  await controls.reset()
  const now = controls.clock.now().toISOString()
  return { said: 'Everything is as it was in the beginning.', data: { now } }
}

/** What a form does, by the path it is posted to. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  '/advance': advance,
  '/advance-to': advanceTo,
  '/fail': failCalls,
  '/decline': declineCharge,
  '/deliveries': setDeliveries,
  '/release': releaseHeld,
  '/clear': clearTrouble,
  '/dunning': changeDunning,
  '/redeliver': redeliver,
  '/trigger': triggerEvent,
  '/save': save,
  '/reset': reset,
}
