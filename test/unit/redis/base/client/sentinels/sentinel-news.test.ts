import { expect, test } from 'vitest'
import { newsAbout } from '../../../../../../src/redis/base/client/sentinels/sentinel-news.ts'

test.each([
  ['+try-failover', 'master main 10.0.0.1 6379', 'begins'],
  ['+failover-state-select-slave', 'master main 10.0.0.1 6379', 'begins'],
  ['+failover-state-send-slaveof-noone', 'slave 10.0.0.2:6379 10.0.0.2 6379 @ main 10.0.0.1 6379', 'begins'],
  ['+promoted-slave', 'slave 10.0.0.2:6379 10.0.0.2 6379 @ main 10.0.0.1 6379', 'changed'],
  ['+failover-state-reconf-slaves', 'master main 10.0.0.1 6379', 'changed'],
  ['-failover-abort-not-elected', 'master main 10.0.0.1 6379', 'changed'],
  ['+switch-master', 'main 10.0.0.1 6379 10.0.0.2 6379', 'changed'],
  ['+try-failover', 'master mainly 10.0.0.1 6379', null],
  ['+switch-master', 'other 10.0.0.1 6379 10.0.0.2 6379', null],
  ['+failover-state-send-slaveof-noone', 'slave main 10.0.0.2 6379 @ other 10.0.0.1 6379', null],
])('%s "%s" means %s', (channel, message, news) => {
  expect(newsAbout('main', channel, message)).toBe(news)
})
