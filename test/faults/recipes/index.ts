/** All recipes, in the order of the plan. */
import type { Recipe } from '../recipe.ts';
import { acknowledgementOrder } from './acknowledgement-order.ts';
import { auditTrail } from './audit-trail.ts';
import { bystander } from './bystander.ts';
import { clock } from './clock.ts';
import { counters } from './counters.ts';
import { damagedCopies } from './damaged-copies.ts';
import { damagedFiles } from './damaged-files.ts';
import { damagedState } from './damaged-state.ts';
import { descriptors } from './descriptors.ts';
import { eventKill } from './event-kill.ts';
import { eventOrder } from './event-order.ts';
import { externalReader } from './external-reader.ts';
import { failingCalls } from './failing-calls.ts';
import { fullDisk } from './full-disk.ts';
import { handlers } from './handlers.ts';
import { hostileDocuments } from './hostile-documents.ts';
import { mutatedFiles } from './mutated-files.ts';
import { randomKill } from './random-kill.ts';
import { replacedFile } from './replaced-file.ts';
import { sealKill } from './seal-kill.ts';
import { secondInstance } from './second-instance.ts';
import { shortWrite } from './short-write.ts';
import { signIn } from './sign-in.ts';
import { slowSenders } from './slow-senders.ts';
import { soak } from './soak.ts';
import { startUpKill } from './start-up-kill.ts';
import { stateKill } from './state-kill.ts';
import { targetedKill } from './targeted-kill.ts';
import { termination } from './termination.ts';
import { vanishingClient } from './vanishing-client.ts';
import { versionKill } from './version-kill.ts';

export const recipes: readonly Recipe[] = [
  counters,
  externalReader,
  replacedFile,
  randomKill,
  targetedKill,
  versionKill,
  stateKill,
  acknowledgementOrder,
  eventKill,
  sealKill,
  eventOrder,
  startUpKill,
  fullDisk,
  shortWrite,
  failingCalls,
  descriptors,
  termination,
  secondInstance,
  damagedState,
  damagedFiles,
  damagedCopies,
  mutatedFiles,
  hostileDocuments,
  vanishingClient,
  slowSenders,
  bystander,
  handlers,
  clock,
  signIn,
  auditTrail,
  soak,
];
