import type { ControlAction } from './action.ts'
import { deleteMail, failMail } from './change-mail.ts'
import { advanceBy, advanceTo } from './move-clock.ts'
import { redeliverWebhook, triggerEvent } from './send-webhooks.ts'
import { changeDunningSettings } from './set-dunning.ts'
import {
  clearTrouble,
  declineCharge,
  failCalls,
  releaseHeldResponses,
  setDeliverySwitches,
} from './simulate-failures.ts'

const save: ControlAction = async (_form, controls) => {
  await controls.save()
  return { message: 'The state file was saved, if the sandbox has one.', data: {} }
}

const reset: ControlAction = async (_form, controls) => {
  await controls.reset()
  const now = controls.clock.now().toISOString()
  return { message: 'The sandbox was reset to its initial state.', data: { now } }
}

/** Handlers of the control room's forms, by the path that the form is posted to. */
export const CONTROL_ROOM_ACTIONS: Readonly<Record<string, ControlAction>> = {
  '/advance': advanceBy,
  '/advance-to': advanceTo,
  '/fail': failCalls,
  '/decline': declineCharge,
  '/deliveries': setDeliverySwitches,
  '/release': releaseHeldResponses,
  '/clear': clearTrouble,
  '/dunning': changeDunningSettings,
  '/delete-mail': deleteMail,
  '/fail-mail': failMail,
  '/redeliver': redeliverWebhook,
  '/trigger': triggerEvent,
  '/save': save,
  '/reset': reset,
}
