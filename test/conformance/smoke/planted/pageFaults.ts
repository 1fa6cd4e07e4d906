import { type PlantedFaults, replace, spoil } from './spoil.ts';

const anyList = /^GET \/inventory\b.* 200$/;

/** What can be wrong with pages and with entries by their ids. */
export const pageFaults: PlantedFaults = {
  'a next page that is the same again': [
    spoil(/^GET \/inventory\?limit=\d+ 200$/, (answer, path) => {
      if (answer.headers.link) answer.headers.link = `</v1${path}&again=1>; rel="next"`;
    }),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'a page that is empty, and not the last': [
    spoil(/^GET \/inventory\?limit=4&cursor=/, (answer, path) => {
      answer.text = '[]';
      answer.headers.link = `</v1${path}>; rel="next"`;
    }),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'a page that is too long': [
    {
      ask(asked) {
        asked.path = asked.path.replace('limit=4', 'limit=9');
      },
    },
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'an entry for an id that none has': [
    spoil(/petId=-?\d+ 200$/, replace(/^\[\]$/, '[{"petId":1,"quantity":1,"status":"sold"}]')),
    'listInventory: answers no entry for an id that none has: ',
  ],
  'entries in another order than that of their ids': [
    spoil(/petId=[^&]*,[^&]* 200$/, (answer) => {
      answer.text = `[${answer.text.match(/\{[^}]*\}/g)?.reverse()}]`;
    }),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'more entries than those of the ids': [
    spoil(
      /petId=[^&]*,[^&]* 200$/,
      replace(
        /\]$/,
        ',{"petId":1,"quantity":1,"status":"sold"},{"petId":3,"quantity":1,"status":"sold"}]',
      ),
    ),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'entries without their tags': [
    {
      ask(asked) {
        asked.path = asked.path.replace('include=etag', 'exclude=etag');
      },
    },
    'listInventory: gives each entry its tag with include=etag: ',
  ],
  'entries with their tags unasked': [
    {
      ask(asked) {
        asked.path = asked.path.replace('limit=1000', 'limit=1000&include=etag');
      },
    },
    'listInventory: answers pages of at most 1,000 entries, each with three members: ',
  ],
  'a status that is passed over': [
    {
      ask(asked) {
        asked.path = asked.path.replace('status=', 'stat=').replace('stat=lost', 'status=lost');
      },
    },
    'listInventory: answers the entries of one status: ',
  ],
  'an id rounded wherever it is answered': [
    spoil(anyList, replace('9007199254740993', '9007199254740992')),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'a quantity in quotes': [
    spoil(anyList, replace(/"quantity":(\d+)/g, '"quantity":"$1"')),
    'listInventory: answers pages of at most 1,000 entries, each with three members: ',
  ],
};
